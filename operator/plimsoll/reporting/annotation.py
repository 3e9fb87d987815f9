"""The decision annotation: why a pod is where it is, on the pod itself, in at most one KiB of JSON.

It rides on the Binding, whose annotations the API server copies to the pod in the same write.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.cluster.times import epoch_s, timestamp
from plimsoll.errors import ObjectError
from plimsoll.scheduling.decision import Decision

MAX_BYTES = 1024

Parts = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DecisionNote:
    """What the annotation says. A part that did not fit into it is None or absent.

    Attributes:
        policy: "" is the built-in default.
        score, runner_up_score: 0..100, one decimal.
        readings: of the chosen node, measured utilisation in percent by metric; None where missing.
        readings_at_s: when the readings were taken, whole seconds since the epoch.
    """

    node: str | None = None
    score: float | None = None
    policy: str | None = None
    readings_at_s: float | None = None
    runner_up: str | None = None
    runner_up_score: float | None = None
    readings: Mapping[str, int | None] = field(default_factory=dict)


def annotation(decision: Decision) -> str:
    """The annotation's value for a decision that binds; never above MAX_BYTES, whatever the names."""
    return render(note_of(decision))


def note_of(decision: Decision) -> DecisionNote:
    chosen, runner_up = decision.chosen, decision.runner_up
    return DecisionNote(
        node=decision.node,
        score=round(decision.score, 1),
        policy=decision.policy,
        readings_at_s=None if decision.readings_at_s is None else float(int(decision.readings_at_s)),
        runner_up=runner_up.node if runner_up else None,
        runner_up_score=round(runner_up.score, 1) if runner_up else None,
        readings=dict(chosen.readings) if chosen else {},
    )


def render(note: DecisionNote) -> str:
    """JSON of the parts that fit, the most important first; one that does not fit makes room for the next."""
    whole = _whole(note)
    if len(whole.encode()) <= MAX_BYTES:
        return whole
    kept: Parts = {}
    for extended in _growing(kept, note):
        if len(_dump(extended).encode()) <= MAX_BYTES:
            kept.update(extended)
    return _dump(kept)


def parse(text: str) -> DecisionNote:
    """Back from the annotation's value.

    Raises:
        ObjectError: it is not what Plimsoll writes; anybody who may edit the pod may have changed it.
    """
    try:
        return _read(json.loads(text))
    except (AttributeError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise ObjectError(f"the annotation plimsoll.dev/decision cannot be read: {error}") from error


def _whole(note: DecisionNote) -> str:
    """All parts, in the order in which ``_growing`` adds them."""
    parts: Parts = {"node": note.node, "score": note.score, "policy": note.policy}
    if note.readings_at_s is not None:
        parts["readingsTime"] = timestamp(note.readings_at_s)
    if note.runner_up is not None:
        parts["runnerUp"] = {"node": note.runner_up, "score": note.runner_up_score}
    if note.readings:
        parts["readings"] = dict(note.readings)
    return _dump(parts)


def _growing(kept: Parts, note: DecisionNote) -> Iterator[Parts]:
    """``kept`` with one more part at a time, by falling importance; the caller decides what it keeps."""
    yield {**kept, "node": note.node}
    yield {**kept, "score": note.score}
    yield {**kept, "policy": note.policy}
    if note.readings_at_s is not None:
        yield {**kept, "readingsTime": timestamp(note.readings_at_s)}
    if note.runner_up is not None:
        yield {**kept, "runnerUp": {"node": note.runner_up, "score": note.runner_up_score}}
    for metric, percent in note.readings.items():
        yield {**kept, "readings": {**kept.get("readings", {}), metric: percent}}


def _read(parts: Parts) -> DecisionNote:
    runner_up = parts.get("runnerUp") or {}
    return DecisionNote(
        node=_text(parts.get("node")),
        score=_number(parts.get("score")),
        policy=_text(parts.get("policy")),
        readings_at_s=epoch_s(_text(parts.get("readingsTime"))),
        runner_up=_text(runner_up.get("node")),
        runner_up_score=_number(runner_up.get("score")),
        readings={k: None if v is None else int(v) for k, v in (parts.get("readings") or {}).items()},
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _number(value: Any) -> float | None:
    if value is None:
        return None
    if not math.isfinite(number := float(value)):
        raise ValueError(f"{value!r} is not a score")
    return number


_dump: Callable[[Parts], str] = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
