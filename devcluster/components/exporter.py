"""The process that plays node-exporter and the kubelet's metrics."""

from devcluster.component import Component, Plan
from devcluster.python import module_command


def exporter(plan: Plan) -> Component:
    """The exporter; nodes are added to it once it runs."""
    command = module_command(
        "devcluster.exporter",
        f"--http-port={plan.ports.exporter}",
        f"--https-port={plan.ports.kubelet}",
        f"--certificate={plan.pki.certificate('serving')}",
        f"--key={plan.pki.key('serving')}",
        f"--state={plan.folder.data / 'exporter.json'}",
    )
    url = plan.exporter_url
    return Component("exporter", command, url=url, health_url=f"{url}/healthz")
