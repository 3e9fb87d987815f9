"""What the network devices of a node carry, against what they can.

A node is as busy as its busiest device, for receiving and for sending each, since links are full duplex.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.quantity import exact
from plimsoll.errors import QuantityError
from plimsoll.load.measured import Measured
from plimsoll.load.oddities import Oddity, OddityLog
from plimsoll.load.series import Measurement

CAPACITY_ANNOTATION = "plimsoll.dev/network-capacity"

# Virtual devices claim 10 Mbit/s, and those that do not know say -1 Mbit/s; nobody runs nodes on less than 100.
_LEAST_SPEED_BYTES_S = 12.5e6
_DEFAULT_CAPACITY_BYTES_S = 125e6
_BOND = re.compile(r"bond[0-9]+")
_MEMBER = re.compile(r"(eth|en|em|ib).*")


def busiest(
    measurements: Iterable[Measurement],
    *,
    nodes: Mapping[str, NodeInfo],
    speeds_bytes_s: Mapping[tuple[str, str], float],
    default_devices: bool,
    policy_capacity_bytes_s: float | None,
    log: OddityLog,
) -> dict[str, Measured]:
    """The busiest device of each node, by its share of the device's capacity.

    Args:
        measurements: bytes per second, one per node and device.
        speeds_bytes_s: by node and device as node-exporter tells them; may be negative.
        default_devices: the policy names no devices, so that bonds stand for their members.
    """
    of_nodes: dict[str, list[Measurement]] = {}
    for measurement in measurements:
        of_nodes.setdefault(measurement.node, []).append(measurement)

    def measured(device: Measurement) -> Measured:
        node, speed = nodes[device.node], speeds_bytes_s.get((device.node, device.device))
        capacity = _annotated(node, log) or _known(speed) or policy_capacity_bytes_s
        if not capacity:
            log.note(Oddity.CAPACITY, _assumed(device, speed))
        return Measured(device.value, capacity or _DEFAULT_CAPACITY_BYTES_S, device.sampled_at_s)

    chosen = {node: _counted(devices, default_devices=default_devices) for node, devices in of_nodes.items()}
    return {node: max(map(measured, devices), key=_order) for node, devices in chosen.items()}


def _order(measured: Measured) -> tuple[float, float, float]:
    return measured.value / measured.capacity, measured.value, measured.sampled_at_s


def _counted(devices: Sequence[Measurement], *, default_devices: bool) -> list[Measurement]:
    """Without devices whose bytes are counted in another one's as well, and whose speed tells nothing."""
    names = {device.device for device in devices}
    counted = [d for d in devices if not _is_vlan_of_another(d.device, names)]
    bonded = max((d.value for d in counted if _BOND.fullmatch(d.device)), default=None)
    if not default_devices or bonded is None:
        return counted
    # What carries more than the bond is no member of it: the kernel's own bond0 is there without members, idle.
    return [d for d in counted if not _MEMBER.fullmatch(d.device) or d.value > bonded]


def _is_vlan_of_another(device: str, names: set[str]) -> bool:
    parent, dot, _ = device.partition(".")
    return bool(dot) and parent in names


def _annotated(node: NodeInfo, log: OddityLog) -> float | None:
    text = node.annotations.get(CAPACITY_ANNOTATION)
    if text is None:
        return None
    try:
        capacity = float(exact(text))
    except (QuantityError, OverflowError):
        capacity = 0.0
    if capacity > 0:
        return capacity
    log.note(Oddity.CAPACITY, f"node {node.name}: {CAPACITY_ANNOTATION}: {text!r} is no quantity above 0")
    return None


def _known(speed_bytes_s: float | None) -> float | None:
    known = speed_bytes_s is not None and speed_bytes_s >= _LEAST_SPEED_BYTES_S
    return speed_bytes_s if known else None


def _assumed(device: Measurement, speed_bytes_s: float | None) -> str:
    told = "no link speed" if speed_bytes_s is None else f"link speed {speed_bytes_s:g} bytes/s"
    return f"node {device.node}, device {device.device}: {told}, so 125M is assumed"
