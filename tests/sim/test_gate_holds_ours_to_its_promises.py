from __future__ import annotations

import pytest

from plimsoll.sim.gate import (
    CONTENDERS,
    KUBE,
    OURS,
    Line,
    fresh_seeds,
    judge,
    judge_scenario,
    lines,
    repeated,
    to_repeat,
)
from plimsoll.sim.measures import BY_KEY
from plimsoll.sim.scenarios import SCENARIOS
from tests.sim.cards import cards_of, make_card

_CPU = BY_KEY["unserved_cpu"]
_NEVER_WORSE = Line("mixed", _CPU, KUBE)


def against_kube(ours: list[float], theirs: list[float]) -> dict:
    return {OURS: cards_of(ours), KUBE: cards_of(theirs)}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_scenario_is_held_against_kube_chance_and_koordinator(scenario):
    held = {(line.against, line.measure.key) for line in lines(scenario) if line.at_most is None}
    for against in ("kube", "random"):
        for key in ("unserved_cpu", "unserved_memory", "unserved_receive", "unserved_transmit", "hot"):
            assert (against, key) in held
    assert ("koordinator", "unserved_cpu") in held


@pytest.mark.parametrize(("scenario", "at_most"), [("jobs", 0.1), ("services", 0.5), ("singles", 0.5)])
def test_some_scenarios_promise_how_much_below_kube(scenario, at_most):
    assert scenario in SCENARIOS
    assert Line(scenario, _CPU, KUBE, at_most) in list(lines(scenario))


def test_equal_everywhere_holds_never_worse():
    cards = {name: cards_of([1.0, 2.0]) for name in CONTENDERS}
    assert all(one.holds for one in judge_scenario("mixed", cards))


@pytest.mark.parametrize(
    ("ours", "theirs", "holds"),
    [([0.04, 0.06], [1.0, 1.0], True), ([0.1, 0.1], [1.0, 1.0], True), ([0.2, 0.2], [1.0, 1.0], False)],
    ids=["well below", "just", "not enough"],
)
def test_a_reduction_is_of_the_means(ours, theirs, holds):
    assert judge(Line("jobs", _CPU, KUBE, 0.1), against_kube(ours, theirs)).holds is holds


@pytest.mark.parametrize(
    "cards",
    [{}, {OURS: cards_of([1.0, 1.0])}, against_kube([0.0], [1.0])],
    ids=["nothing", "not the other", "one seed"],
)
def test_a_line_without_a_comparison_does_not_hold(cards):
    judged = judge(_NEVER_WORSE, cards)
    assert judged.missing
    assert judged.failed


def test_nobody_passes_by_leaving_pods_unplaced():
    ours = {seed: make_card(0.0, unplaced=[3]) for seed in range(4)}
    assert judge(_NEVER_WORSE, {OURS: ours, KUBE: cards_of([5.0] * 4)}).failed


@pytest.mark.parametrize(("fresh", "failed"), [([1.0, 1.0], False), ([3.0, 3.1], True)], ids=["chance", "again"])
def test_a_line_has_failed_only_if_it_fails_on_fresh_seeds_too(fresh, failed):
    judged = [judge(_NEVER_WORSE, against_kube([2.0, 2.1], [1.0, 1.0]))]
    assert to_repeat(judged) == {"mixed": ("ours", "kube")}
    again = repeated(judged, {"mixed": against_kube(fresh, [1.0, 1.0])})
    assert [one.failed for one in again] == [failed]
    assert not again[0].holds


def test_what_holds_is_not_tried_again():
    judged = [judge(_NEVER_WORSE, against_kube([1.0, 1.0], [1.0, 1.0]))]
    assert to_repeat(judged) == {}
    assert repeated(judged, {}) == judged


def test_fresh_seeds_were_not_used_before():
    assert fresh_seeds(range(24)) == range(24, 48)
    assert fresh_seeds(range(5, 9)) == range(9, 13)
