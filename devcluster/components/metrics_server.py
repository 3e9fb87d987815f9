"""metrics-server, and how the API server finds it without a cluster network."""

from typing import Any

from devcluster.component import Component, Plan

NAME = "metrics-server"
_NAMESPACE = "kube-system"
GROUP_VERSION = "metrics.k8s.io/v1beta1"


def metrics_server(plan: Plan) -> Component:
    """A metrics-server that scrapes each node at the port in its status."""
    url = f"https://127.0.0.1:{plan.ports.metrics_server}"
    command = (
        str(plan.program(NAME)),
        *plan.kubeconfig_flags(),
        "--bind-address=127.0.0.1",
        f"--secure-port={plan.ports.metrics_server}",
        *plan.serving_flags(),
        "--kubelet-insecure-tls",
        "--kubelet-use-node-status-port",
        "--kubelet-preferred-address-types=InternalIP",
        # It refuses less than 10 s, and a timeout of more than nine tenths of this.
        "--metric-resolution=10s",
        "--kubelet-request-timeout=5s",
    )
    # /readyz waits for the first scrape, which can be long after nodes were added.
    return Component(NAME, command, url=url, health_url=f"{url}/livez")


def service() -> dict[str, Any]:
    """A Service that leads the API server to loopback."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": NAME, "namespace": _NAMESPACE},
        "spec": {"type": "ExternalName", "externalName": "localhost"},
    }


def api_service(port: int) -> dict[str, Any]:
    """The registration of the metrics API."""
    group, version = GROUP_VERSION.split("/")
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"{version}.{group}"},
        "spec": {
            "group": group,
            "version": version,
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "insecureSkipTLSVerify": True,
            "service": {"name": NAME, "namespace": _NAMESPACE, "port": port},
        },
    }
