"""What is applied: the two policies of ``examples/`` and a Deployment of 60 pods for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

EXAMPLES = Path(__file__).parent.parent / "examples"
REPLICAS = 60


def policy(name: str, *, prometheus_url: str) -> dict[str, Any]:
    """The example, asking this cluster's Prometheus instead of the one that the example names."""
    manifest: dict[str, Any] = yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text())
    source = manifest["spec"].get("metricsSource", {})
    if "prometheus" in source:
        source["prometheus"]["url"] = prometheus_url
    return manifest


def deployment(name: str, *, selected_by: dict[str, Any]) -> dict[str, Any]:
    """A Deployment whose pods a policy selects by their labels, and that names the scheduler."""
    labels = {"app": name, **selected_by["spec"]["podSelector"]["matchLabels"]}
    container = {
        "name": "main",
        "image": "registry.k8s.io/pause:3.10",
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": REPLICAS,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"schedulerName": "plimsoll", "containers": [container]},
            },
        },
    }
