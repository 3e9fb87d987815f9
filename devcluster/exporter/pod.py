"""What a fake kubelet's cAdvisor counts of one pod."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from devcluster.exporter.counter import Counter
from devcluster.exporter.load import PodLoad


@dataclass(slots=True)
class FakePod:
    """A pod with one container and one interface."""

    cpu: Counter
    """Seconds that its container worked."""
    receive: Counter
    transmit: Counter
    memory_bytes: float = 0.0

    @classmethod
    def started(cls, *, now_s: float) -> Self:
        """A pod that has done nothing yet."""
        return cls(Counter(now_s), Counter(now_s), Counter(now_s))

    @classmethod
    def restored(cls, saved: Mapping[str, Any]) -> Self:
        """The pod that `dataclasses.asdict` saved."""
        counters = {name: Counter(**saved[name]) for name in ("cpu", "receive", "transmit")}
        return cls(**counters, memory_bytes=saved["memory_bytes"])

    def apply(self, load: PodLoad, *, now_s: float) -> None:
        """What the load does not name is 0.

        Raises:
            ValueError: a field is unknown, or a rate is negative.
        """
        unknown = load.keys() - PodLoad.__annotations__.keys()
        if unknown:
            raise ValueError(f"unknown fields: {', '.join(sorted(unknown))}")
        self.cpu.set_rate(load.get("cpu_cores", 0.0), now_s=now_s)
        self.receive.set_rate(load.get("receive_bytes_per_s", 0.0), now_s=now_s)
        self.transmit.set_rate(load.get("transmit_bytes_per_s", 0.0), now_s=now_s)
        self.memory_bytes = load.get("memory_bytes", 0.0)
