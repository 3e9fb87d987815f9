"""What the kubelet's cAdvisor says of a few pods, with all that makes it hard to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict, Unpack

from plimsoll.cluster.workload import WorkloadKey
from plimsoll.load.pod_use import PodPlace

WEB, AGENT, YOUNG, ENDED = (WorkloadKey(f"default/Deployment/{name}") for name in ("web", "agent", "young", "ended"))
_YOUNG_S = 100.0
_ENDED_S = 120.0
# Its samples have times of their own, and these reach back so far.
_EVERY_S, _STEPS = 15.0, 24


class _Span(TypedDict, total=False):
    since_s: float
    until_s: float


class Kubelet:
    """As of one moment; counters began a day before, or with their pod."""

    def __init__(self, now_s: float) -> None:
        self.now_s = now_s
        self._long_ago_s = now_s - 86_400

    @property
    def pods(self) -> dict[str, PodPlace]:
        return {
            "default/web-1": PodPlace(WEB, self._long_ago_s),
            "default/web-2": PodPlace(WEB, self._long_ago_s),
            "default/agent": PodPlace(AGENT, self._long_ago_s, host_network=True),
            "default/young": PodPlace(YOUNG, self.now_s - _YOUNG_S),
            "default/ended": PodPlace(ENDED, self._long_ago_s),
        }

    def cadvisor(self) -> str:
        young: _Span = {"since_s": self.now_s - _YOUNG_S}
        return "".join(
            (
                *self._container("", "", "/", cores=7.0, mem_bytes=32e9),
                # Its own cgroup has the sum of its containers, its pause container next to nothing.
                *self._container("web-1", "", "/pod1", cores=0.5, mem_bytes=150e6),
                *self._container("web-1", "POD", "/pod1/pause", cores=0.01, mem_bytes=1e6),
                *self._container("web-1", "app", "/pod1/app", cores=0.2, mem_bytes=100e6),
                *self._container("web-1", "proxy", "/pod1/proxy", cores=0.3, mem_bytes=50e6),
                *self._interface("web-1", "eth0", receive=1e6, transmit=2e6),
                *self._interface("web-1", "tunl0", receive=9e6, transmit=9e6),
                # The same container, seen under two paths.
                *self._container("web-2", "app", "/pod2/app", cores=0.1, mem_bytes=50e6),
                *self._container("web-2", "app", "/kubelet/pod2/app", cores=0.1, mem_bytes=50e6),
                *self._interface("web-2", "eth0", receive=2e6, transmit=0.0),
                *self._interface("web-2", "net1", receive=1e6, transmit=0.0),
                *self._container("agent", "agent", "/pod3/agent", cores=0.4, mem_bytes=10e6),
                *self._interface("agent", "eth0", receive=100e6, transmit=100e6),
                *self._container("young", "app", "/pod4/app", cores=0.5, mem_bytes=20e6, **young),
                *self._interface("young", "eth0", receive=3e6, transmit=1e6, **young),
                *self._container("ended", "app", "/pod5/app", cores=0.9, mem_bytes=3e6, until_s=self.now_s - _ENDED_S),
            )
        )

    def _container(
        self, pod: str, container: str, path: str, *, cores: float, mem_bytes: float, **span: Unpack[_Span]
    ) -> Iterator[str]:
        labels = {"container": container, "id": path, "namespace": "default" if pod else "", "pod": pod}
        yield from self._lines("container_cpu_usage_seconds_total", {**labels, "cpu": "total"}, rate=cores, **span)
        yield from self._lines("container_memory_working_set_bytes", labels, value=mem_bytes, **span)

    def _interface(
        self, pod: str, interface: str, *, receive: float, transmit: float, **span: Unpack[_Span]
    ) -> Iterator[str]:
        labels = {"container": "", "id": f"/{pod}", "interface": interface, "namespace": "default", "pod": pod}
        yield from self._lines("container_network_receive_bytes_total", labels, rate=receive, **span)
        yield from self._lines("container_network_transmit_bytes_total", labels, rate=transmit, **span)

    def _lines(
        self, name: str, labels: dict[str, str], *, rate: float = 0.0, value: float = 0.0, **span: Unpack[_Span]
    ) -> Iterator[str]:
        since_s, until_s = span.get("since_s", self._long_ago_s), span.get("until_s", self.now_s)
        text = ",".join(f'{key}="{label}"' for key, label in labels.items())
        for at_s in (self.now_s - _EVERY_S * step for step in range(_STEPS, -1, -1)):
            if since_s <= at_s <= until_s:
                yield f"{name}{{{text}}} {value + rate * (at_s - since_s)!r} {round(at_s * 1000)}\n"
