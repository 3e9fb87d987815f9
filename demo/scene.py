"""The cluster that the demo plays in: twelve nodes whose network and memory load differ."""

from __future__ import annotations

from devcluster import ClusterSpec, Load, NodeSpec

_ZONES = "abc"
_GIB = 2**30
_MEMORY_GIB = 64
_LINK_BYTES_PER_S = 1.25e9  # 10 Gbit/s

# Percent of the link and of memory in use, per node. The two orders differ, so that the two policies disagree.
_NETWORK = (82, 7, 55, 31, 12, 68, 44, 4, 74, 22, 38, 61)
_MEMORY = (18, 71, 9, 84, 47, 26, 90, 58, 13, 77, 34, 40)


def cluster() -> ClusterSpec:
    nodes = [_node(i, network, memory) for i, (network, memory) in enumerate(zip(_NETWORK, _MEMORY, strict=True))]
    return ClusterSpec(nodes=nodes, prometheus=True, metrics_server=True)


def network_percent() -> dict[str, int]:
    return {f"node-{i + 1}": percent for i, percent in enumerate(_NETWORK)}


def memory_percent() -> dict[str, int]:
    return {f"node-{i + 1}": percent for i, percent in enumerate(_MEMORY)}


def _node(index: int, network: int, memory: int) -> NodeSpec:
    load = Load(
        receive_bytes_per_s={"eth0": network / 100 * _LINK_BYTES_PER_S},
        transmit_bytes_per_s={"eth0": network / 200 * _LINK_BYTES_PER_S},
        speed_bytes={"eth0": _LINK_BYTES_PER_S},
        cpu_utilisation=0.15,
        memory_total_bytes=_MEMORY_GIB * _GIB,
        memory_used_bytes=memory / 100 * _MEMORY_GIB * _GIB,
    )
    zone = _ZONES[index % len(_ZONES)]
    return NodeSpec(name=f"node-{index + 1}", memory=f"{_MEMORY_GIB}Gi", zone=zone, load=load)
