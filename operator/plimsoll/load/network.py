"""What the network devices of a node carry, against what they can.

A node is as busy as its busiest device, for receiving and for sending each, since links are full duplex.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.quantity import exact
from plimsoll.cluster.snapshot import Bools
from plimsoll.errors import QuantityError
from plimsoll.load.measured import MeasuredNodes, by_node
from plimsoll.load.oddities import Oddity, OddityLog
from plimsoll.load.readings import Floats
from plimsoll.load.vectors import Ints, best_of_each

CAPACITY_ANNOTATION = "plimsoll.dev/network-capacity"

# Virtual devices claim 10 Mbit/s, and those that do not know say -1 Mbit/s; nobody runs nodes on less than 100.
_LEAST_SPEED_BYTES_S = 12.5e6
_DEFAULT_CAPACITY_BYTES_S = 125e6
_BOND = re.compile(r"bond[0-9]+")
_MEMBER = re.compile(r"(eth|en|em|ib).*")


def busiest(
    node: Ints,
    device: Sequence[str],
    value: Floats,
    sampled_at_s: Floats,
    *,
    nodes: Sequence[NodeInfo],
    speeds_bytes_s: Floats,
    default_devices: bool,
    policy_capacity_bytes_s: float | None,
    log: OddityLog,
) -> MeasuredNodes:
    """The busiest device of each node, by its share of the device's capacity.

    Args:
        node: [U], by number.
        device: [U], names; each of a node once.
        value: [U], bytes per second; NaN where not measured.
        speeds_bytes_s: [U], as node-exporter tells them; may be negative, NaN where not known.
        default_devices: the policy names no devices, so that bonds stand for their members.
    """
    counted = np.flatnonzero(~np.isnan(value))
    names = [device[i] for i in counted.tolist()]
    counted = counted[_counted(node[counted], names, value[counted], default_devices=default_devices)]
    told = np.where(speeds_bytes_s >= _LEAST_SPEED_BYTES_S, speeds_bytes_s, policy_capacity_bytes_s or np.nan)
    capacity = _annotated_or(told[counted], node[counted], nodes, log)
    for i in counted[np.isnan(capacity)].tolist():
        log.note(Oddity.CAPACITY, _assumed(nodes[node[i]].name, device[i], float(speeds_bytes_s[i])))
    capacity = np.where(np.isnan(capacity), _DEFAULT_CAPACITY_BYTES_S, capacity)
    node, value, sampled_at_s = node[counted], value[counted], sampled_at_s[counted]
    best = best_of_each(node, value / capacity, value, sampled_at_s)
    columns = (by_node(len(nodes), node[best], column[best]) for column in (value, capacity, sampled_at_s))
    return MeasuredNodes(*columns)


def _annotated_or(told: Floats, node: Ints, nodes: Sequence[NodeInfo], log: OddityLog) -> Floats:
    """[U], what the nodes' annotations say of all their devices, else what is told."""
    annotated = {i: capacity for i in np.unique(node).tolist() if (capacity := _annotated(nodes[i], log))}
    if not annotated:
        return told
    of_nodes = by_node(len(nodes), np.array(list(annotated)), np.array(list(annotated.values())))
    return np.where(np.isnan(of_nodes[node]), told, of_nodes[node])


def _counted(node: Ints, device: Sequence[str], value: Floats, *, default_devices: bool) -> Bools:
    """Without devices whose bytes are counted in another one's as well, and whose speed tells nothing."""
    counted = np.ones(len(node), dtype=np.bool_)
    special = {name for name in set(device) if "." in name or _BOND.fullmatch(name)}
    if not special:
        return counted
    of_nodes: dict[int, list[int]] = {}
    for i, number in enumerate(node.tolist()):
        of_nodes.setdefault(number, []).append(i)
    for several in of_nodes.values():
        by_device = {device[i]: (i, float(value[i])) for i in several}
        if not special.isdisjoint(by_device):
            counted[[i for name, (i, _) in by_device.items() if not _stands(name, by_device, default_devices)]] = False
    return counted


def _stands(name: str, by_device: Mapping[str, tuple[int, float]], default_devices: bool) -> bool:  # noqa: FBT001
    """Whether a device counts beside the others of its node."""
    if _is_vlan_of_another(name, by_device):
        return False
    if not default_devices or not _MEMBER.fullmatch(name):
        return True
    bonds = (
        carried
        for bond, (_, carried) in by_device.items()
        if _BOND.fullmatch(bond) and not _is_vlan_of_another(bond, by_device)
    )
    bonded = max(bonds, default=None)
    # What carries more than the bond is no member of it: the kernel's own bond0 is there without members, idle.
    return bonded is None or by_device[name][1] > bonded


def _is_vlan_of_another(device: str, names: Collection[str]) -> bool:
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


def _assumed(node: str, device: str, speed_bytes_s: float) -> str:
    told = "no link speed" if math.isnan(speed_bytes_s) else f"link speed {speed_bytes_s:g} bytes/s"
    return f"node {node}, device {device}: {told}, so 125M is assumed"
