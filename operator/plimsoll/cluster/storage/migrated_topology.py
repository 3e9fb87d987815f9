"""Node affinity of in-tree volumes in the words of the CSI drivers that took over; csi-translation-lib's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from plimsoll.cluster.selectors import NodeSelector, NodeSelectorTerm, Operator, Requirement
from plimsoll.cluster.storage.reading import Json

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
BETA_ZONE, BETA_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
SEPARATOR = "__"


def zones_of(volume: Json) -> tuple[str, ...]:
    """By its labels; several where the volume is regional."""
    labels = _labels(volume)
    zones = labels.get(BETA_ZONE) or labels.get(ZONE) or ""
    return tuple(zones.split(SEPARATOR)) if zones else ()


def migrated_topology(volume: Json, key: str) -> NodeSelector | None:
    """The node affinity with the driver's zone key in place of the zone's; None allows every node.

    Args:
        key: the driver's; "" where it keeps the zone's.
    """
    required = ((volume.get("spec") or {}).get("nodeAffinity") or {}).get("required")
    selector = None if required is None else NodeSelector.parse(required)
    if not key:
        return selector
    zone = _zone_key(volume, selector)
    if any(r.key == zone and r.values for r in _requirements(selector)):
        selector = _renamed(selector, {zone: key})
    else:
        selector = _limited(selector, key, _labels(volume).get(zone, ""))
    return _renamed(selector, {BETA_REGION: REGION}) if zone == BETA_ZONE else selector


def _zone_key(volume: Json, selector: NodeSelector | None) -> str:
    """Whether the volume goes by the old name of the zone's label."""
    for known in ({r.key for r in _requirements(selector)}, _labels(volume)):
        for zone in (ZONE, BETA_ZONE):
            if zone in known:
                return zone
    return ZONE


def _limited(selector: NodeSelector | None, key: str, zones: str) -> NodeSelector | None:
    names = frozenset(zone.strip() for zone in zones.split(SEPARATOR) if zone.strip())
    if not names:
        return selector
    in_zones = Requirement(key, Operator.IN, names)
    terms = selector.terms if selector is not None and selector.terms else (NodeSelectorTerm(),)
    return NodeSelector(tuple(replace(term, expressions=(*term.expressions, in_zones)) for term in terms))


def _renamed(selector: NodeSelector | None, names: Mapping[str, str]) -> NodeSelector | None:
    if selector is None:
        return None
    return NodeSelector(
        tuple(
            replace(term, expressions=tuple(replace(r, key=names.get(r.key, r.key)) for r in term.expressions))
            for term in selector.terms
        )
    )


def _requirements(selector: NodeSelector | None) -> Iterator[Requirement]:
    return (r for term in (selector.terms if selector is not None else ()) for r in term.expressions)


def _labels(volume: Json) -> Mapping[str, str]:
    return volume["metadata"].get("labels") or {}
