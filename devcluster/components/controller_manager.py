"""kube-controller-manager."""

from devcluster.component import Component, Plan

# These two need a cloud or a real node network.
_CONTROLLERS = "*,-node-ipam-controller,-persistentvolume-attach-detach-controller"


def controller_manager(plan: Plan) -> Component:
    """All controllers that make sense without machines."""
    url = f"https://127.0.0.1:{plan.ports.controller_manager}"
    command = (
        str(plan.program("kube-controller-manager")),
        *plan.kubeconfig_flags(),
        "--bind-address=127.0.0.1",
        f"--secure-port={plan.ports.controller_manager}",
        *plan.serving_flags(),
        "--leader-elect=false",
        f"--service-account-private-key-file={plan.pki.token_key}",
        f"--root-ca-file={plan.pki.ca}",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        f"--controllers={_CONTROLLERS}",
    )
    return Component("kube-controller-manager", command, url=url, health_url=f"{url}/healthz")
