"""The scene that both sides play, as data: four minutes of eight nodes and sixty pods."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

_GIB = 2.0**30
_MIB = 2.0**20
NIC_BYTES_S = 125e6


class Kind(enum.Enum):
    """What makes an app's pods."""

    DEPLOYMENT = "Deployment"
    JOB = "Job"
    BARE = "Pod"


class Load(NamedTuple):
    """Cores, bytes, bytes/s received and sent; in this order in the simulator's arrays, too."""

    cores: float
    mem_bytes: float
    receive_bytes_s: float
    transmit_bytes_s: float


class Machine(NamedTuple):
    """Attributes:
    background: what it carries all the time and no pod accounts for.
    """

    name: str
    cores: int
    mem_bytes: float
    background: Load


class App(NamedTuple):
    """Attributes:
    use: of each of its pods, from its start to its end.
    request_cores, request_bytes: 0 of an app that requests nothing.
    lifetime_s: how long its pods run.
    """

    name: str
    kind: Kind
    use: Load
    request_cores: float = 0.0
    request_bytes: float = 0.0
    lifetime_s: float = float("inf")


class Rollout(NamedTuple):
    """So many new pods of an app at once: a Deployment is scaled up, a Job or bare pods are made."""

    at_s: float
    app: str
    pods: int


@dataclass(frozen=True, slots=True)
class Scene:
    """Attributes:
    ready_s: from a pod's Binding to its start, about as kwok's fake kubelets take it.
    created_s: from a rollout to its first pod, about as the control plane takes it.
    between_s: from one pod of a rollout to the next.
    end_s: of the last rollout's placements, by far.
    """

    machines: tuple[Machine, ...]
    apps: tuple[App, ...]
    rollouts: tuple[Rollout, ...]
    time_range_s: int = 60
    refresh_s: int = 10
    scrape_s: float = 5.0
    created_s: float = 0.3
    between_s: float = 0.03
    ready_s: float = 0.1
    end_s: float = 232.0

    @property
    def pods(self) -> int:
        return sum(rollout.pods for rollout in self.rollouts)

    def app(self, name: str) -> App:
        return next(app for app in self.apps if app.name == name)

    def policy(self, *, prometheus_url: str) -> Mapping[str, Any]:
        """The limits are never reached; with them the simulator reads at each refresh, as the operator always does."""
        return {
            "apiVersion": "plimsoll.dev/v1alpha1",
            "kind": "SchedulingPolicy",
            "metadata": {"name": "live-check"},
            "spec": {
                "weights": {"cpu": 1, "memory": 1, "networkReceive": 1, "networkTransmit": 1},
                "timeRange": f"{self.time_range_s}s",
                "refreshInterval": f"{self.refresh_s}s",
                "limits": {"cpu": 98, "memory": 98, "network": 98},
                "metricsSource": {"prometheus": {"url": prometheus_url}},
            },
        }


def _machine(number: int, *, cores: int, cpu: float, memory: float, receive: float, transmit: float) -> Machine:
    """Args:
    cpu, memory, receive, transmit: of the background, as shares of what the machine offers.
    """
    mem_bytes = 4 * cores * _GIB
    background = Load(cpu * cores, memory * mem_bytes, receive * NIC_BYTES_S, transmit * NIC_BYTES_S)
    return Machine(f"node-{number}", cores, mem_bytes, background)


# What pods use is learned at 60, 120 and 180 s by both sides. The operator hands over what it looked at ten seconds
# before, the simulator looks at that moment: so no pod starts 30 to 40 s earlier, whom only one of them would see old
# enough to be believed.
SCENE = Scene(
    machines=(
        _machine(1, cores=8, cpu=0.15, memory=0.20, receive=0.10, transmit=0.05),
        _machine(2, cores=8, cpu=0.45, memory=0.30, receive=0.20, transmit=0.10),
        _machine(3, cores=8, cpu=0.25, memory=0.55, receive=0.15, transmit=0.10),
        _machine(4, cores=8, cpu=0.20, memory=0.25, receive=0.65, transmit=0.40),
        _machine(5, cores=16, cpu=0.10, memory=0.15, receive=0.05, transmit=0.05),
        _machine(6, cores=16, cpu=0.50, memory=0.35, receive=0.30, transmit=0.20),
        _machine(7, cores=16, cpu=0.30, memory=0.60, receive=0.20, transmit=0.10),
        _machine(8, cores=16, cpu=0.25, memory=0.30, receive=0.45, transmit=0.30),
    ),
    apps=(
        App("web", Kind.DEPLOYMENT, Load(0.25, 900 * _MIB, 3e6, 4e6), 0.5, 512 * _MIB),
        App("api", Kind.DEPLOYMENT, Load(0.6, 400 * _MIB, 1e6, 1e6)),
        App("cache", Kind.DEPLOYMENT, Load(0.15, 1.6 * _GIB, 2e6, 3e6), 0.2, 2 * _GIB),
        App("batch", Kind.JOB, Load(0.9, 0.5 * _GIB, 0.5e6, 0.5e6), 1.0, 1 * _GIB, lifetime_s=75),
        App("report", Kind.JOB, Load(0.7, 1 * _GIB, 5e6, 1e6), lifetime_s=50),
        App("probe", Kind.BARE, Load(0.5, 1.2 * _GIB, 4e6, 2e6), 0.3, 256 * _MIB),
    ),
    rollouts=(
        Rollout(45, "web", 8),
        Rollout(62, "batch", 6),
        Rollout(68, "probe", 1),
        Rollout(74, "probe", 1),
        Rollout(95, "api", 8),
        Rollout(112, "cache", 6),
        Rollout(118, "probe", 1),
        Rollout(128, "web", 6),
        Rollout(135, "probe", 1),
        Rollout(155, "report", 6),
        Rollout(175, "api", 6),
        Rollout(188, "probe", 2),
        Rollout(214, "cache", 4),
        Rollout(224, "web", 4),
    ),
)
