"""Fields of a pod that are hard constraints which Plimsoll does not honour.

A pod that sets one is never bound past it: it stays pending and is told which field. Fields that cannot
restrict the choice of a node are not listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Json = Mapping[str, Any]

_KNOWN_OPERATORS = frozenset({"", "Equal", "Exists"})
# All pods of a group go at once or none does; older API servers call the group a workload.
_GROUPS = ("schedulingGroup", "workloadRef")


def unsupported_fields(spec: Json) -> tuple[str, ...]:
    """The paths of such fields, in the order of the spec's own documentation; empty for most pods."""
    return tuple(_found(spec))


def _found(spec: Json) -> Iterator[str]:
    for i, toleration in enumerate(spec.get("tolerations") or ()):
        if (toleration.get("operator") or "") not in _KNOWN_OPERATORS:
            yield f"spec.tolerations[{i}].operator ({toleration['operator']})"
    yield from (f"spec.{field}" for field in _GROUPS if spec.get(field))
