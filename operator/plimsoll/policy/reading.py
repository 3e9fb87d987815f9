"""A manifest read as far as it makes sense: what is wrong is set aside, field by field, and named.

The API server has refused most wrong policies at apply. What still arrives here was stored under another
version of the CRD, or never went through an API server at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from plimsoll.errors import PolicyError
from plimsoll.policy.compiled import Problem
from plimsoll.policy.models.policy import API_VERSION, KIND, PLURAL
from plimsoll.policy.models.spec import Spec
from plimsoll.policy.rules import BROKEN, Rule

Path = tuple[str | int, ...]
Raw = dict[str, Any]

# Which pods and which nodes: to guess here would place pods where nobody wanted them.
_ESSENTIAL = {"mode", "priority", "podSelector", "namespaceSelector", "nodeSelector", "nodeAffinity"}
# Objects and lists whose members go one by one; of anything else the whole field goes.
_BY_MEMBER = {"weights", "limits", "placement", "strategy", "metrics"}
_SOURCE = "metricsSource"
# Stands in for a source that is set aside, so that the rest is judged as if the source could be asked.
_STAND_IN = {"prometheus": {"url": "http://set.aside"}}


@dataclass(frozen=True, slots=True)
class Read:
    """What could be read.

    Attributes:
        problems: one per field that was set aside, in the order they were found.
    """

    spec: Spec
    problems: tuple[Problem, ...]

    def set_aside(self, field: str) -> bool:
        """Whether a field of the spec, or a part of it, was set aside."""
        return any(_is_part(problem.field, f"spec.{field}") for problem in self.problems)


def read_spec(manifest: Mapping[str, Any]) -> Read:
    """The spec of a SchedulingPolicy in the API server's JSON.

    Raises:
        PolicyError: it is no SchedulingPolicy, or what is wrong says which pods or nodes it is for.
    """
    spec = _raw_spec(manifest)
    problems: list[Problem] = []
    while True:
        try:
            return Read(Spec.model_validate(spec), tuple(problems))
        except ValidationError as error:
            _set_aside(spec, error.errors(), problems)


def _raw_spec(manifest: Mapping[str, Any]) -> Raw:
    for field, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if manifest.get(field) != wanted:
            raise PolicyError(field=field, problem=f"this is {manifest.get(field)!r}", mend=f"write {wanted}")
    metadata = manifest.get("metadata")
    if not isinstance(metadata, Mapping) or not isinstance(metadata.get("name"), str):
        raise PolicyError(field="metadata.name", problem="the policy has no name", mend="give it one")
    spec = manifest.get("spec")
    if not isinstance(spec, Mapping):
        raise PolicyError(field="spec", problem="the policy has no spec", mend="write at least spec: {}")
    raw: Raw = _without_nulls(spec)
    return raw


def _without_nulls(value: Any) -> Any:
    """A copy without null members, which the API server prunes before it sets defaults."""
    if isinstance(value, Mapping):
        return {key: _without_nulls(member) for key, member in value.items() if member is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _set_aside(spec: Raw, errors: list[ErrorDetails], problems: list[Problem]) -> None:
    """Takes what is wrong out of ``spec`` and adds to ``problems``; each round takes out something more."""
    parts: set[Path] = set()
    for error in errors:
        path, members = _at_fault(error)
        problem = _problem(spec, path, error)
        if path[0] in _ESSENTIAL:
            raise PolicyError(field=problem.field, problem=problem.problem, mend=problem.mend)
        parts.update(_part(member) for member in members)
        # What was set aside may break another rule; people are told the first reason only.
        if not any(_is_part(p.field, problem.field) or _is_part(problem.field, p.field) for p in problems):
            problems.append(problem)
    # From the back, so that the indices of list items stay true.
    for part in sorted(parts, reverse=True):
        _take_out(spec, part)


def _at_fault(error: ErrorDetails) -> tuple[Path, list[Path]]:
    """The field that the error is about, and the fields to take out."""
    path, rule = error["loc"], _rule(error)
    if rule is None:
        return path, [path]
    field = (*path, *_members(rule.at))
    return field, [(*path, *_members(member)) for member in rule.sets_aside] or [field]


def _rule(error: ErrorDetails) -> Rule | None:
    rule = error["ctx"]["rule"] if error["type"] == BROKEN else None
    return rule if isinstance(rule, Rule) else None


def _members(dotted: str) -> Path:
    return tuple(dotted.split(".")) if dotted else ()


def _problem(spec: Raw, path: Path, error: ErrorDetails) -> Problem:
    field, rule = _field(spec, path), _rule(error)
    if rule is not None:
        return Problem(field, rule.problem, rule.mend)
    if error["type"] == "extra_forbidden":
        parent = _explained(path[:-1])
        return Problem(field, f"{KIND} has no such field", f"take it out, or find its name in `{parent}`")
    if error["type"] == "missing":
        return Problem(field, "this is required", f"write it as `{_explained(path)}` says")
    return Problem(field, error["msg"][:1].lower() + error["msg"][1:], f"see `{_explained(path)}`")


def _explained(path: Path) -> str:
    return "kubectl explain " + ".".join([PLURAL, "spec", *(step for step in path if isinstance(step, str))])


def _field(spec: Raw, path: Path) -> str:
    """As people write paths; list items by their name where they have one."""
    text, value = "spec", spec
    for step in path:
        value = _member(value, step)
        name = value.get("name") if isinstance(value, dict) else None
        text += f".{step}" if isinstance(step, str) else f"[{name if isinstance(name, str) else step}]"
    return text


def _member(value: Any, step: str | int) -> Any:
    try:
        return value[step]
    except (LookupError, TypeError):
        return None


def _part(path: Path) -> Path:
    """What goes as a whole where the path is wrong."""
    return path[:2] if path[0] in _BY_MEMBER else path[:1]


def _take_out(spec: Raw, part: Path) -> None:
    if part == (_SOURCE,):
        spec[_SOURCE] = _STAND_IN
        return
    *above, last = part
    holder: Any = spec
    for step in above:
        holder = _member(holder, step)
    if isinstance(holder, list) or (isinstance(holder, dict) and last in holder):
        del holder[last]  # type: ignore[arg-type]


def _is_part(field: str, whole: str) -> bool:
    return field == whole or field.startswith((f"{whole}.", f"{whole}["))
