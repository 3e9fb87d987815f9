"""kwok, which plays the kubelets."""

from pathlib import Path

from devcluster.component import Component, Plan

_STAGES = Path(__file__).parent / "kwok-stages.yaml"


def kwok(plan: Plan) -> Component:
    """Nodes that are ready, pods that run at once on the node they are bound to."""
    url = f"https://127.0.0.1:{plan.ports.kwok}"
    command = (
        str(plan.program("kwok")),
        f"--kubeconfig={plan.folder.kubeconfig}",
        f"--config={_STAGES}",
        "--manage-all-nodes=true",
        # What kwok writes into a node's status as its kubelet is where metrics-server scrapes it.
        "--node-ip=127.0.0.1",
        f"--node-port={plan.ports.kubelet if plan.spec.exporter else plan.ports.kwok}",
        f"--server-address=127.0.0.1:{plan.ports.kwok}",
        *plan.serving_flags(),
        f"--node-lease-duration-seconds={plan.spec.lease_duration_s}",
        "--cidr=10.244.0.0/16",
    )
    return Component("kwok", command, url=url, health_url=f"{url}/healthz")
