"""Prometheus, which scrapes the exporter."""

from typing import Any

import yaml

from devcluster.component import Component, Plan
from devcluster.spec import InstanceLabel

# A node that was added should be scraped soon; the answer is made on loopback.
_DISCOVERY_INTERVAL = "2s"
_INSTANCE_SOURCES: dict[InstanceLabel, str] = {
    "node": "__meta_node",
    "address": "__meta_node_address",
}


def prometheus(plan: Plan) -> Component:
    """A Prometheus that discovers the fake nodes by HTTP."""
    config = plan.folder.config / "prometheus.yml"
    config.write_text(yaml.safe_dump(_config(plan)))
    address = f"127.0.0.1:{plan.ports.prometheus}"
    command = (
        str(plan.program("prometheus")),
        f"--config.file={config}",
        f"--storage.tsdb.path={plan.folder.data / 'prometheus'}",
        "--storage.tsdb.retention.time=2h",
        f"--web.listen-address={address}",
    )
    url = f"http://{address}"
    return Component("prometheus", command, url=url, health_url=f"{url}/-/ready")


def _config(plan: Plan) -> dict[str, Any]:
    interval = f"{round(plan.spec.scrape_interval_s * 1000)}ms"
    source = _INSTANCE_SOURCES[plan.spec.instance_label]
    return {
        "global": {"scrape_interval": interval, "scrape_timeout": interval},
        "scrape_configs": [
            {
                "job_name": "node",
                "http_sd_configs": [
                    {
                        "url": f"{plan.exporter_url}/discovery/prometheus",
                        "refresh_interval": _DISCOVERY_INTERVAL,
                    }
                ],
                "relabel_configs": [{"source_labels": [source], "target_label": "instance"}],
            }
        ],
    }
