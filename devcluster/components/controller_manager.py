"""kube-controller-manager."""

from devcluster.component import Component, Plan

# These two need a cloud or a real node network.
_CONTROLLERS = "*,-node-ipam-controller,-persistentvolume-attach-detach-controller"

# As upstream's defaults have it: 50 s for leases of 40 s.
_LEASE_GRACE_S = 10


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
        f"--node-monitor-grace-period={plan.spec.lease_duration_s + _LEASE_GRACE_S}s",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        f"--controllers={_CONTROLLERS}",
    )
    return Component("kube-controller-manager", command, url=url, health_url=f"{url}/healthz")
