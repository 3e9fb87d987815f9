"""kube-scheduler, to compare with."""

import json

from devcluster.component import Component, Plan

# Its defaults of 50 and 100 would measure the limit and not the scheduler.
_QPS, _BURST = 5000, 10_000


def kube_scheduler(plan: Plan) -> Component:
    """The default profile, as `default-scheduler`."""
    url = f"https://127.0.0.1:{plan.ports.kube_scheduler}"
    configuration = plan.folder.config / "kube-scheduler.json"
    configuration.write_text(json.dumps(_configuration(str(plan.folder.kubeconfig)), indent=2))
    command = (
        str(plan.program("kube-scheduler")),
        f"--config={configuration}",
        f"--authentication-kubeconfig={plan.folder.kubeconfig}",
        f"--authorization-kubeconfig={plan.folder.kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--secure-port={plan.ports.kube_scheduler}",
        *plan.serving_flags(),
    )
    return Component("kube-scheduler", command, url=url, health_url=f"{url}/healthz")


def _configuration(kubeconfig: str) -> dict[str, object]:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": kubeconfig, "qps": _QPS, "burst": _BURST},
    }
