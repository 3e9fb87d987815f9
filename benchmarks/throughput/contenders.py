"""Who binds the pods: Plimsoll, kube-scheduler with raised and with its default limits, and bare clients."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.throughput.observing import tls_flags
from benchmarks.throughput.place import Place
from devcluster import binaries
from devcluster.ports import choose

NAMESPACE = "plimsoll-system"
# So high that it limits nothing here; a half of what is measured as the most that the API server takes would be enough.
RAISED_QPS, RAISED_BURST = 5000, 5000
# kube-scheduler's own: what an installation has that says nothing.
DEFAULT_QPS, DEFAULT_BURST = 50, 100


@dataclass(frozen=True, slots=True)
class Launch:
    """Attributes:
    ready: answers 200 once it schedules; "" of one that says nothing of itself.
    metrics: in Prometheus' format; "" where there are none.
    """

    command: tuple[str, ...]
    ready: str = ""
    metrics: str = ""


@dataclass(frozen=True, slots=True)
class Contender:
    """Attributes:
    scheduler: the name that pods have in ``spec.schedulerName``.
    flags: for the report; what differs from run to run is left out.
    launch: by the place and the file with the names of the measured pods.
    events: whether each pod that it binds gets an Event.
    bare: it watches nothing, and binds what is there when it starts.
    """

    name: str
    title: str
    scheduler: str
    flags: str
    launch: Callable[[Place, Path], Launch]
    events: bool = True
    bare: bool = False


def _plimsoll(place: Place, _: Path) -> Launch:
    address = f"127.0.0.1:{choose().kube_scheduler}"
    command = (
        *(sys.executable, "-m", "plimsoll", "run"),
        f"--kubeconfig={place.kubeconfig}",
        f"--namespace={NAMESPACE}",
        f"--metrics-address={address}",
        "--log-format=json",
    )
    return Launch(command, ready=f"http://{address}/readyz", metrics=f"http://{address}/metrics")


def _kube_scheduler(qps: int, burst: int) -> Callable[[Place, Path], Launch]:
    def launch(place: Place, _: Path) -> Launch:
        port = choose().kube_scheduler
        configuration = place.folder / "kube-scheduler.json"
        configuration.write_text(json.dumps(_configuration(str(place.kubeconfig), qps, burst)))
        command = (
            str(binaries.ensure("kube-scheduler")),
            f"--config={configuration}",
            f"--authentication-kubeconfig={place.kubeconfig}",
            f"--authorization-kubeconfig={place.kubeconfig}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--tls-cert-file={place.pki.certificate('serving')}",
            f"--tls-private-key-file={place.pki.key('serving')}",
        )
        url = f"https://127.0.0.1:{port}"
        return Launch(command, ready=f"{url}/readyz", metrics=f"{url}/metrics")

    return launch


def _configuration(kubeconfig: str, qps: int, burst: int) -> dict[str, object]:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": True},
        "clientConnection": {"kubeconfig": kubeconfig, "qps": qps, "burst": burst},
    }


def _bare(*flags: str) -> Callable[[Place, Path], Launch]:
    def launch(place: Place, names: Path) -> Launch:
        command = (sys.executable, "-m", "benchmarks.throughput.bare", f"--names={names}", *tls_flags(place), *flags)
        return Launch(command)

    return launch


PLIMSOLL, KUBE, KUBE_DEFAULT = "plimsoll", "kube-scheduler", "kube-scheduler-default"
BINDS, BINDS_EVENTS = "binds", "binds+events"
_KUBE_FLAGS = "default profile, leaderElect: true, qps: {}, burst: {}"

CONTENDERS: Mapping[str, Contender] = {
    contender.name: contender
    for contender in (
        Contender(PLIMSOLL, "Plimsoll", "plimsoll", "defaults, leader election on", _plimsoll),
        Contender(
            KUBE,
            "kube-scheduler",
            "default-scheduler",
            _KUBE_FLAGS.format(RAISED_QPS, RAISED_BURST),
            _kube_scheduler(RAISED_QPS, RAISED_BURST),
        ),
        Contender(
            KUBE_DEFAULT,
            "kube-scheduler, default limits",
            "default-scheduler",
            _KUBE_FLAGS.format(DEFAULT_QPS, DEFAULT_BURST),
            _kube_scheduler(DEFAULT_QPS, DEFAULT_BURST),
        ),
        Contender(BINDS, "bare client, Bindings", "nobody", "64 connections", _bare(), events=False, bare=True),
        Contender(
            BINDS_EVENTS, "bare client, Bindings and Events", "nobody", "64 connections", _bare("--events"), bare=True
        ),
    )
}
