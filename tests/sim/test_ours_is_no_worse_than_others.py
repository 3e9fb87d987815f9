"""A small part of `make quality`, on generated load: what is far enough from chance to be asserted."""

from __future__ import annotations

import os

import pytest

from plimsoll.sim.compare import Verdict
from plimsoll.sim.contenders.registry import CONTENDERS
from plimsoll.sim.gate import CONTENDERS as JUDGED
from plimsoll.sim.inputs import Inputs
from plimsoll.sim.measures import BY_KEY
from plimsoll.sim.running import Bench
from plimsoll.sim.scenarios import SCENARIOS
from plimsoll.sim.study import Study

_SEEDS = range(4)


@pytest.fixture(scope="module")
def board():
    bench = Bench(Inputs().load, SCENARIOS, {name: CONTENDERS[name].make for name in JUDGED})
    study = Study(bench, processes=min(2, os.cpu_count() or 1))
    study.replay(["jobs"], _SEEDS, JUDGED, told=lambda _done, _total: None)
    return study.board("jobs", _SEEDS, JUDGED, baseline="kube")


@pytest.mark.slow
def test_all_pods_are_placed(board):
    assert all(not card.unplaced for cards in board.cards.values() for card in cards.values())


@pytest.mark.slow
@pytest.mark.parametrize("other", ["kube", "random"])
def test_ours_leaves_less_demand_unserved(board, other):
    unserved = BY_KEY["unserved_cpu"]
    assert board.mean("ours", unserved).mean < board.mean(other, unserved).mean
    assert board.against("ours", other, unserved).verdict is not Verdict.WORSE


@pytest.mark.slow
def test_ours_puts_fewer_replicas_side_by_side_than_chance(board):
    siblings = BY_KEY["siblings"]
    assert board.against("ours", "random", siblings).verdict is Verdict.BETTER
