"""Scorecards and comparisons for programs, small enough for a repository."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import plimsoll
from plimsoll.sim.board import Board
from plimsoll.sim.compare import Mean, mean_of
from plimsoll.sim.default_policy import default_policy_text
from plimsoll.sim.gate import Judged
from plimsoll.sim.measures import MEASURES
from plimsoll.sim.scorecard import CURVE_STEP_S, Scorecard

SCHEMA_VERSION = 1
_DIGITS = 4

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PolicyUsed:
    """The policy that ours placed by.

    Attributes:
        text: of its file.
    """

    name: str = "default"
    text: str = field(default_factory=default_policy_text)

    def shown(self) -> Json:
        return {"name": self.name, "sha256": hashlib.sha256(self.text.encode()).hexdigest()}


def scenario_json(board: Board) -> Json:
    """One scenario: each contender's scorecards as arrays over ``seeds``, and its comparison with the baseline.

    What was not measured is null.
    """
    return {
        "scenario": board.scenario,
        "title": board.title,
        "baseline": board.baseline,
        "seeds": board.seeds,
        "curveStepSeconds": CURVE_STEP_S,
        "policies": {contender: _contender(board, contender) for contender in board.contenders},
    }


def report_json(
    boards: Iterable[Board],
    *,
    inputs: Mapping[str, str],
    judged: Iterable[Judged] = (),
    complete: bool,
    policy: PolicyUsed | None = None,
) -> Json:
    """Args:
    inputs: names of files to their sha256.
    complete: every replay that was asked for is in it.
    policy: that ours placed by; None: the default one.
    """
    return {
        "schemaVersion": SCHEMA_VERSION,
        "plimsollVersion": plimsoll.__version__,
        "complete": complete,
        "inputs": dict(inputs),
        "policy": (policy or PolicyUsed()).shown(),
        "measures": {m.key: {"title": m.title, "unit": m.unit, "better": m.better.value} for m in MEASURES},
        "scenarios": [scenario_json(board) for board in boards],
        "gate": [_line(one) for one in judged],
    }


def dumps(report: Json) -> str:
    """Each array of numbers on one line: diffs stay readable."""
    return _worded(report, "") + "\n"


def _contender(board: Board, contender: str) -> Json:
    cards = board.cards[contender]
    shown: Json = {
        "means": {m.key: _mean(board.mean(contender, m)) for m in MEASURES},
        "bySeed": {m.key: [_value(cards, seed, m.key) for seed in board.seeds] for m in MEASURES},
        "hotCurve": _curve(cards),
    }
    if contender in board.compared:
        shown["againstBaseline"] = {m.key: _paired(board, contender, m.key) for m in MEASURES}
    return shown


def _value(cards: Mapping[int, Scorecard], seed: int, key: str) -> float | None:
    return _number(cards[seed].values[key]) if seed in cards else None


def _paired(board: Board, contender: str, key: str) -> Json:
    measure = next(m for m in MEASURES if m.key == key)
    paired = board.against(contender, board.baseline, measure)
    return {
        **_mean(paired.difference),
        "wins": paired.wins,
        "losses": paired.losses,
        "ties": paired.ties,
        "verdict": paired.verdict.value,
        **({"leftOut": list(paired.unlike)} if paired.unlike else {}),
    }


def _curve(cards: Mapping[int, Scorecard]) -> Json:
    points = [mean_of(values) for values in zip(*(card.hot_curve for card in cards.values()), strict=True)]
    return {"mean": [_number(p.mean) for p in points], "se": [_number(p.se) for p in points]}


def _line(one: Judged) -> Json:
    shown: Json = {
        "line": str(one.line),
        "scenario": one.line.scenario,
        "measure": one.line.measure.key,
        "against": one.line.against,
        "ours": _number(one.ours),
        "theirs": _number(one.theirs),
        "difference": _mean(one.paired.difference),
        "morePodsUnplaced": one.more_unplaced,
        "holds": one.holds,
        "failed": one.failed,
    }
    return shown | ({"onFreshSeeds": _line(one.again)} if one.again else {})


def _mean(mean: Mean) -> Json:
    return {"mean": _number(mean.mean), "se": _number(mean.se)}


def _number(value: float) -> float | None:
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None


def _worded(value: Any, indent: str) -> str:
    deeper = indent + " "
    if isinstance(value, dict) and any(isinstance(held, dict | list) for held in value.values()):
        parts = (f"{deeper}{json.dumps(key)}: {_worded(held, deeper)}" for key, held in value.items())
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(held, dict) for held in value):
        return "[\n" + ",\n".join(deeper + _worded(held, deeper) for held in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)
