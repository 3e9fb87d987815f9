"""Which nodes have a fault, and when, is a matter of the scenario and the seed."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.load.queries import Ask, Window
from plimsoll.sim.answers import prometheus_answers
from plimsoll.sim.faults import Faults
from plimsoll.sim.scenario import FaultKind
from tests.sim.worlds import CAPACITY, POLICY, make_fault, make_plane, make_scenario, make_world


def faults_of(*faults: object, seed: int = 1, nodes: int = 10) -> Faults:
    return Faults(make_scenario(faults=faults), nodes, seed=seed)


@pytest.mark.parametrize(("share", "nodes"), [(0.0, 1), (0.3, 3), (1.0, 10)])
def test_as_many_nodes_have_it_as_the_share_says_and_one_at_least(share, nodes):
    assert faults_of(make_fault(FaultKind.NAN, share=share)).at(FaultKind.NAN, 4000.0).sum() == nodes


def test_the_seed_says_which():
    chosen = {
        tuple(faults_of(make_fault(FaultKind.NAN, share=0.3), seed=s).at(FaultKind.NAN, 4000.0)) for s in range(9)
    }
    assert len(chosen) > 5


def test_who_has_one_fault_is_the_first_to_have_another():
    found = faults_of(make_fault(FaultKind.NAN, share=0.2), make_fault(FaultKind.DARK, share=0.5))
    few, more = found.at(FaultKind.NAN, 4000.0), found.at(FaultKind.DARK, 4000.0)
    assert (few & more).sum() == 2
    assert more.sum() == 5


def test_it_is_there_from_its_begin_to_before_its_end():
    found = faults_of(make_fault(FaultKind.NAN))
    assert [found.at(FaultKind.NAN, s).any() for s in (3599.9, 3600.0, 5399.9, 5400.0)] == [False, True, True, False]
    assert found.within(FaultKind.NAN, 3000.0, 3600.0).all()
    assert not found.within(FaultKind.NAN, 5400.0, 6000.0).any()
    assert not found.at(FaultKind.DARK, 4000.0).any()


def test_a_world_without_faults_has_none():
    assert not faults_of()
    assert faults_of(make_fault(FaultKind.DARK))


@pytest.mark.parametrize("kind", [FaultKind.FROZEN, FaultKind.STUCK], ids=lambda kind: kind.value)
def test_what_is_frozen_already_does_not_take_up_the_values_at_which_others_freeze(kind):
    faults = (make_fault(kind, share=0.5), make_fault(kind, from_s=4500.0))
    rising = np.arange(480) / 1000
    plane = make_plane(make_world(rising, nodes=4, faults=faults))
    first = plane.faults.at(kind, 4000.0)
    assert first.sum() == 2
    received = plane.mean(300.0, 5300.0)[2] / CAPACITY[2]
    assert received[first] == pytest.approx((3600 - 150) / 15000, abs=1e-3)
    assert received[~first] == pytest.approx((4500 - 150) / 15000, abs=1e-3)
    answers = prometheus_answers(plane, POLICY, now_s=5300.0).answers
    assert [s.value for s in answers[Ask.RECEIVE.over(Window.SHORT)]] == pytest.approx([0.0] * 4)
    free = np.array([s.value for s in answers[Ask.AVAILABLE.over(Window.SHORT)]]) / CAPACITY[1]
    assert 1 - free[first] == pytest.approx(0.24, abs=2e-3)
    assert 1 - free[~first] == pytest.approx(0.3, abs=2e-3)
