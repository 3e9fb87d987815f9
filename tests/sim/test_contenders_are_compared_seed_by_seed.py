from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.sim.compare import Verdict, mean_of, paired
from plimsoll.sim.measures import BY_KEY
from tests.sim.cards import cards_of, make_card

_UNSERVED, _JAIN, _MEAN = (BY_KEY[key] for key in ("unserved_cpu", "jain_cpu", "mean_cpu"))


def test_a_difference_has_the_standard_error_of_its_mean():
    found = paired(cards_of([1.0, 3.0, 5.0]), cards_of([1.0, 1.0, 1.0]), _UNSERVED)
    assert found.difference.mean == pytest.approx(2)
    assert found.difference.se == pytest.approx(2 / math.sqrt(3))
    assert (found.wins, found.losses, found.ties) == (0, 2, 1)


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        ([2.0, 2.1, 2.2], [1.0, 1.0, 1.0], Verdict.WORSE),
        ([1.0, 1.0, 1.0], [2.0, 2.1, 2.2], Verdict.BETTER),
        ([1.0, 5.0, 0.0], [2.0, 1.0, 1.0], Verdict.SAME),
        ([1.0, 1.0], [1.0, 1.0], Verdict.SAME),
        ([1.5, 1.5], [1.0, 1.0], Verdict.WORSE),
        ([9.0], [1.0], Verdict.UNDECIDED),
        ([], [], Verdict.UNDECIDED),
    ],
    ids=["worse", "better", "by chance", "equal", "the same loss each time", "one seed", "no seed"],
)
def test_worse_is_what_is_worse_beyond_two_standard_errors(ours, theirs, verdict):
    assert paired(cards_of(ours), cards_of(theirs), _UNSERVED).verdict is verdict


def test_what_is_better_when_higher_wins_by_being_higher():
    found = paired(cards_of([0.9, 0.8], key="jain_cpu"), cards_of([0.5, 0.5], key="jain_cpu"), _JAIN)
    assert (found.wins, found.losses, found.verdict) == (2, 0, Verdict.BETTER)


def test_what_is_neither_way_better_has_no_verdict():
    found = paired(cards_of([9.0, 9.0], key="mean_cpu"), cards_of([1.0, 1.0], key="mean_cpu"), _MEAN)
    assert found.verdict is Verdict.UNDECIDED


def test_seeds_in_which_other_pods_were_placed_are_left_out():
    ours = cards_of([1.0, 1.0]) | {2: make_card(unserved_cpu=0.0, unplaced=[7])}
    found = paired(ours, cards_of([1.0, 1.0, 9.0]), _UNSERVED)
    assert found.unlike == (2,)
    assert found.difference.count == 2
    assert found.difference.mean == 0


@pytest.mark.parametrize(
    ("left_out", "verdict"),
    [(0, Verdict.BETTER), (2, Verdict.BETTER), (3, Verdict.UNDECIDED), (10, Verdict.UNDECIDED)],
    ids=["none", "a sixth", "more than a sixth", "almost all"],
)
def test_fewer_than_five_sixths_of_the_seeds_decide_nothing(left_out, verdict):
    ours = cards_of([1.0] * 12) | {seed: make_card(unplaced=[7]) for seed in range(left_out)}
    found = paired(ours, cards_of([9.0] * 12), _UNSERVED)
    assert len(found.unlike) == left_out
    assert found.verdict is verdict


def test_the_same_pods_left_waiting_can_be_compared():
    ours, theirs = ({0: make_card(unplaced=[7]), 1: make_card()} for _ in range(2))
    assert paired(ours, theirs, _UNSERVED).unlike == ()


def test_seeds_that_only_one_of_them_has_do_not_count():
    assert paired(cards_of([1.0, 1.0, 1.0]), cards_of([1.0, 1.0], first=1), _UNSERVED).difference.count == 2


def test_what_was_not_measured_is_no_zero():
    ours = cards_of([math.nan, 2.0, 2.0])
    assert mean_of([card.values["unserved_cpu"] for card in ours.values()]).mean == 2
    assert paired(ours, cards_of([1.0, 1.0, 1.0]), _UNSERVED).difference.count == 2


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=2, max_size=8))
def test_what_is_worse_for_one_is_better_for_the_other(pairs):
    ours, theirs = cards_of([one for one, _ in pairs]), cards_of([other for _, other in pairs])
    forth, back = paired(ours, theirs, _UNSERVED), paired(theirs, ours, _UNSERVED)
    assert (forth.wins, forth.losses, forth.ties) == (back.losses, back.wins, back.ties)
    opposite = {Verdict.WORSE: Verdict.BETTER, Verdict.BETTER: Verdict.WORSE}
    assert forth.verdict is opposite.get(back.verdict, back.verdict)
