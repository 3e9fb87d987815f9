"""The state of one fake node."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from devcluster.exporter.counter import Counter
from devcluster.exporter.load import Load, PodLoad
from devcluster.exporter.pod import FakePod

_DEFAULT_DEVICE = "eth0"
_DEFAULT_SPEED_BYTES = 1.25e9
_NODE_EXPORTER_PORT = 9100


@dataclass(slots=True)
class Device:
    """One network device."""

    receive: Counter
    transmit: Counter
    speed_bytes: float | None = None


@dataclass(slots=True)
class FakeNode:
    """Counters and gauges of one node. A new one is idle and has one device."""

    name: str
    number: int
    """Never used twice, not even after a node was removed."""
    uptime: Counter
    busy: Counter
    """Seconds that the average CPU worked."""
    devices: dict[str, Device]
    cpus: int = 1
    memory_total_bytes: float = 0.0
    memory_used_bytes: float = 0.0
    dark: bool = False
    not_a_number: bool = False
    device_names: dict[str, str] = field(default_factory=dict)
    pods: dict[str, FakePod] | None = None
    """By `namespace/name`; None where nobody has told of any."""

    @classmethod
    def idle(cls, name: str, *, number: int, now_s: float) -> Self:
        """A node that does nothing yet."""
        device = Device(Counter(now_s), Counter(now_s), _DEFAULT_SPEED_BYTES)
        return cls(
            name=name,
            number=number,
            uptime=Counter(now_s, rate=1.0),
            busy=Counter(now_s),
            devices={_DEFAULT_DEVICE: device},
        )

    @classmethod
    def restored(cls, saved: Mapping[str, Any]) -> Self:
        """The node that `dataclasses.asdict` saved."""
        devices = {
            name: Device(Counter(**device["receive"]), Counter(**device["transmit"]), device["speed_bytes"])
            for name, device in saved["devices"].items()
        }
        counters = {"uptime": Counter(**saved["uptime"]), "busy": Counter(**saved["busy"])}
        pods = saved["pods"] and {name: FakePod.restored(pod) for name, pod in saved["pods"].items()}
        return cls(**{**saved, **counters, "devices": devices, "pods": pods})

    @property
    def address(self) -> str:
        """What `instance` would look like in a real network."""
        high, low = divmod(self.number, 250)
        return f"10.1.{high}.{low + 1}:{_NODE_EXPORTER_PORT}"

    def apply(self, change: Load, *, now_s: float) -> None:
        """Change what the change names.

        Raises:
            ValueError: a field is unknown, or a rate is negative.
        """
        unknown = change.keys() - Load.__annotations__.keys()
        if unknown:
            raise ValueError(f"unknown fields: {', '.join(sorted(unknown))}")
        self._apply_to_devices(change, now_s=now_s)
        if "pods" in change:
            self._apply_to_pods(change["pods"], now_s=now_s)
        if "cpu_utilisation" in change:
            self.busy.set_rate(change["cpu_utilisation"], now_s=now_s)
        self.cpus = change.get("cpus", self.cpus)
        self.memory_total_bytes = change.get("memory_total_bytes", self.memory_total_bytes)
        self.memory_used_bytes = change.get("memory_used_bytes", self.memory_used_bytes)
        self.dark = change.get("dark", self.dark)
        self.not_a_number = change.get("not_a_number", self.not_a_number)
        self.device_names = dict(change.get("device_names", self.device_names))

    def _apply_to_devices(self, change: Load, *, now_s: float) -> None:
        for name, rate in change.get("receive_bytes_per_s", {}).items():
            self._device(name, now_s=now_s).receive.set_rate(rate, now_s=now_s)
        for name, rate in change.get("transmit_bytes_per_s", {}).items():
            self._device(name, now_s=now_s).transmit.set_rate(rate, now_s=now_s)
        for name, speed in change.get("speed_bytes", {}).items():
            self._device(name, now_s=now_s).speed_bytes = speed

    def _device(self, name: str, *, now_s: float) -> Device:
        return self.devices.setdefault(name, Device(Counter(now_s), Counter(now_s)))

    def _apply_to_pods(self, loads: Mapping[str, PodLoad], *, now_s: float) -> None:
        known = self.pods or {}
        self.pods = {name: known.get(name) or FakePod.started(now_s=now_s) for name in loads}
        for name, load in loads.items():
            self.pods[name].apply(load, now_s=now_s)

    def reset_counters(self, *, now_s: float) -> None:
        """Start all counters at zero again."""
        for counter in self._counters():
            counter.reset(now_s=now_s)

    def _counters(self) -> Iterator[Counter]:
        yield from (self.uptime, self.busy)
        for device in self.devices.values():
            yield from (device.receive, device.transmit)
        for pod in (self.pods or {}).values():
            yield from (pod.cpu, pod.receive, pod.transmit)

    def shown_devices(self) -> Iterator[tuple[str, Device]]:
        """The devices under the names that they show."""
        for name, device in self.devices.items():
            yield self.device_names.get(name, name), device
