"""What a fake node says of its load."""

from collections.abc import Mapping
from typing import TypedDict


class PodLoad(TypedDict, total=False):
    """What one pod uses; what is left out is 0."""

    cpu_cores: float
    memory_bytes: float
    receive_bytes_per_s: float
    transmit_bytes_per_s: float


class Load(TypedDict, total=False):
    """The load of one node, or a change of it: what is left out stays as it is."""

    receive_bytes_per_s: Mapping[str, float]
    """Per device; a device that is named for the first time appears."""
    transmit_bytes_per_s: Mapping[str, float]
    speed_bytes: Mapping[str, float | None]
    """Per device, in bytes/s as node-exporter has it; drivers that do not know say -125000; None
    leaves the series out."""
    cpu_utilisation: float
    """Of all CPUs together, 0 to 1."""
    cpus: int
    memory_used_bytes: float
    memory_total_bytes: float
    dark: bool
    """Scrapes are answered with 503."""
    not_a_number: bool
    """All values of the node-exporter are NaN."""
    pods: Mapping[str, PodLoad]
    """All pods of which the kubelet's cAdvisor tells, by `namespace/name`; those that it knew and that are not named
    are gone. The node's own load does not follow from theirs. Prometheus scrapes cAdvisor once this was set."""
    device_names: Mapping[str, str]
    """Devices that show under another name, e.g. `{"eth0": "ens5"}` after a reboot."""
