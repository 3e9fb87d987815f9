"""Who binds the pods: Plimsoll, kube-scheduler with raised and with its default limits, and bare clients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NAMESPACE = "plimsoll-system"
# So high that it limits nothing here; a half of what is measured as the most that the API server takes would be enough.
RAISED_QPS, RAISED_BURST = 5000, 5000
# kube-scheduler's own: what an installation has that says nothing.
DEFAULT_QPS, DEFAULT_BURST = 50, 100
PLIMSOLL, KUBE, KUBE_DEFAULT = "plimsoll", "kube-scheduler", "kube-scheduler-default"
BINDS, BINDS_EVENTS = "binds", "binds+events"
_CONNECTIONS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """Attributes:
    scheduler: the name that pods have in ``spec.schedulerName``.
    command: all that is kept of a run's command line; what differs from run to run stands in braces, see launching.py.
    configuration: of the file ``{configuration}``, with the same words in braces.
    ready: answers 200 once it schedules; "" of one that says nothing of itself.
    metrics: in Prometheus' format; "" where there are none.
    events: whether each pod that it binds gets an Event.
    bare: it watches nothing, and binds what is there when it starts.
    """

    name: str
    title: str
    scheduler: str
    command: tuple[str, ...]
    configuration: Mapping[str, Any] | None = None
    ready: str = ""
    metrics: str = ""
    events: bool = True
    bare: bool = False


def _kube_scheduler(name: str, title: str, qps: int, burst: int) -> Contender:
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": True},
        "clientConnection": {"kubeconfig": "{kubeconfig}", "qps": qps, "burst": burst},
    }
    command = (
        "{kube_scheduler}",
        "--config={configuration}",
        "--authentication-kubeconfig={kubeconfig}",
        "--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        "--secure-port={port}",
        "--tls-cert-file={serving_cert}",
        "--tls-private-key-file={serving_key}",
    )
    url = "https://127.0.0.1:{port}"
    return Contender(
        name=name,
        title=title,
        scheduler="default-scheduler",
        command=command,
        configuration=configuration,
        ready=f"{url}/readyz",
        metrics=f"{url}/metrics",
    )


def _bare(name: str, title: str, *flags: str, events: bool) -> Contender:
    reaches = ("--server={server}", "--ca={ca}", "--cert={admin_cert}", "--key={admin_key}")
    command = (
        *("{python}", "-m", "benchmarks.throughput.bare", "--names={names}"),
        *(*reaches, f"--connections={_CONNECTIONS}", *flags),
    )
    return Contender(name=name, title=title, scheduler="nobody", command=command, events=events, bare=True)


_PLIMSOLL = Contender(
    name=PLIMSOLL,
    title="Plimsoll",
    scheduler="plimsoll",
    command=(
        *("{python}", "-m", "plimsoll", "run"),
        "--kubeconfig={kubeconfig}",
        f"--namespace={NAMESPACE}",
        "--metrics-address=127.0.0.1:{port}",
        "--log-format=json",
    ),
    ready="http://127.0.0.1:{port}/readyz",
    metrics="http://127.0.0.1:{port}/metrics",
)

CONTENDERS: Mapping[str, Contender] = {
    contender.name: contender
    for contender in (
        _PLIMSOLL,
        _kube_scheduler(KUBE, "kube-scheduler", RAISED_QPS, RAISED_BURST),
        _kube_scheduler(KUBE_DEFAULT, "kube-scheduler, default limits", DEFAULT_QPS, DEFAULT_BURST),
        _bare(BINDS, "Plimsoll's connections alone, Bindings", events=False),
        _bare(BINDS_EVENTS, "Plimsoll's connections alone, Bindings and Events", "--events", events=True),
    )
}
