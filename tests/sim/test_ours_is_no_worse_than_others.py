"""A small part of `make quality`, on generated load: what the gate promises of one scenario, by its own code."""

from __future__ import annotations

import os

import pytest

from plimsoll.sim.compare import Verdict
from plimsoll.sim.contenders.registry import CONTENDERS
from plimsoll.sim.gate import CONTENDERS as JUDGED
from plimsoll.sim.gate import lines
from plimsoll.sim.inputs import Inputs
from plimsoll.sim.measures import BY_KEY
from plimsoll.sim.running import Bench
from plimsoll.sim.scenarios import SCENARIOS
from plimsoll.sim.study import Study

_SEEDS = range(4)
_LINES = list(lines("jobs"))
_REDUCTIONS = [line for line in _LINES if line.at_most is not None]


@pytest.fixture(scope="module")
def study():
    bench = Bench(Inputs().load, SCENARIOS, {name: CONTENDERS[name].make for name in JUDGED})
    study = Study(bench, processes=min(2, os.cpu_count() or 1))
    study.replay(["jobs"], _SEEDS, JUDGED, told=lambda _done, _total: None)
    return study


@pytest.fixture(scope="module")
def board(study):
    return study.board("jobs", _SEEDS, JUDGED, baseline="kube")


@pytest.fixture(scope="module")
def judged(study):
    """As `make quality` does it: what fails by chance is tried again on fresh seeds."""
    return {one.line: one for one in study.judged(["jobs"], _SEEDS, told=lambda _done, _total: None)}


@pytest.mark.slow
def test_all_pods_are_placed(board):
    assert all(not card.unplaced for cards in board.cards.values() for card in cards.values())


@pytest.mark.slow
@pytest.mark.parametrize("line", _LINES, ids=str)
def test_ours_keeps_to_every_line_of_the_gate(judged, line):
    assert not judged[line].failed, judged[line]


@pytest.mark.slow
@pytest.mark.parametrize("line", _REDUCTIONS, ids=str)
def test_a_reduction_is_far_enough_from_chance_to_hold_at_once(judged, line):
    assert judged[line].holds, judged[line]
    assert judged[line].theirs > 1, "percent: where there is next to nothing to reduce, nothing is shown"


@pytest.mark.slow
@pytest.mark.parametrize("other", ["kube", "random"])
def test_ours_leaves_less_demand_unserved(board, other):
    unserved = BY_KEY["unserved_cpu"]
    assert board.mean("ours", unserved).mean < board.mean(other, unserved).mean


@pytest.mark.slow
def test_ours_puts_fewer_replicas_side_by_side_than_chance(board):
    siblings = BY_KEY["siblings"]
    assert board.against("ours", "random", siblings).verdict is Verdict.BETTER
