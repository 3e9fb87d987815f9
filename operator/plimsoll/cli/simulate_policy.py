"""The SchedulingPolicy that ``plimsoll simulate --policy`` is given: read strictly, and made fit for replays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from plimsoll.cli.choosing import near
from plimsoll.cli.reading_files import read_items
from plimsoll.cluster.selectors import LabelSelector
from plimsoll.errors import InvalidInput
from plimsoll.policy.compile import compile_policy
from plimsoll.policy.compiled import Mode, Policy
from plimsoll.policy.crd import custom_resource_definition
from plimsoll.policy.models.policy import KIND

_SELECTORS = ("podSelector", "namespaceSelector", "nodeSelector", "nodeAffinity")
_Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class GivenPolicy:
    """Attributes:
    policy: as it is replayed.
    text: of the file.
    remarks: sentences on what of it is not replayed.
    """

    policy: Policy
    text: str
    remarks: tuple[str, ...]


def given_policy(path: Path) -> GivenPolicy:
    """Without what has no part in a replay, which the remarks name.

    Raises:
        InvalidInput: the file cannot be read or holds no policy, the policy cannot be put in force, or has a field that
            there is not; the API server's strict validation refuses such a field too.
    """
    manifest = _manifest(path)
    unknown = list(_unknown(manifest, _schema(), ""))
    if unknown:
        raise InvalidInput(f"{path}: {KIND} has no field {' and no field '.join(unknown)}: mend it or take it out")
    written = compile_policy(manifest)
    return GivenPolicy(_replayed(written), path.read_text(encoding="utf-8"), tuple(_remarks(written, manifest["spec"])))


def _manifest(path: Path) -> dict[str, Any]:
    found = [item for item in read_items(str(path)) if item.get("kind") == KIND]
    if len(found) != 1:
        raise InvalidInput(f"{path} holds {len(found)} objects of kind {KIND}: it should hold one")
    return found[0]


def _schema() -> _Schema:
    schema: _Schema = custom_resource_definition()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return schema


def _unknown(value: Any, schema: _Schema, path: str) -> Iterator[str]:
    """Paths of fields that the schema does not know, each with the names that may have been meant."""
    if isinstance(value, list):
        for at, item in enumerate(value):
            yield from _unknown(item, schema.get("items", {}), f"{path}[{at}]")
        return
    # An object without properties, as metadata or a map, has whatever keys people give it.
    known = schema.get("properties")
    if not isinstance(value, Mapping) or known is None:
        return
    for name, held in value.items():
        field = f"{path}.{name}" if path else str(name)
        if name not in known:
            yield f"{field}{near(str(name), known)}"
        else:
            yield from _unknown(held, known[name], field)


def _replayed(policy: Policy) -> Policy:
    """The policy as that of every replayed pod and node, which have neither labels nor namespaces of anybody's."""
    return replace(
        policy,
        mode=Mode.ENFORCE,
        pod_selector=LabelSelector(),
        namespace_selector=LabelSelector(),
        node_selector={},
        node_affinity=None,
        metrics=tuple(metric for metric in policy.metrics if not metric.custom),
    )


def _remarks(policy: Policy, spec: Mapping[str, Any]) -> Iterator[str]:
    for problem in policy.problems:
        yield f"Set aside: {problem}."
    for field in policy.not_yet_enforced:
        yield f"Without effect so far: {field}."
    if selectors := [name for name in _SELECTORS if spec.get(name)]:
        yield f"Not part of a replay, in which the policy is for all pods and all nodes: {', '.join(selectors)}."
    if policy.mode is Mode.OBSERVE:
        yield "Not part of a replay: mode Observe; the policy places pods, as with Enforce."
    if custom := [metric.name for metric in policy.metrics if metric.custom]:
        yield f"Not part of a replay, since no recording has them: the custom metrics {', '.join(custom)}."
