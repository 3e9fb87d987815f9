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
from plimsoll.sim.report.grid import gate
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


@pytest.mark.parametrize("line", [_NEVER_WORSE, Line("jobs", _CPU, KUBE, 0.5)], ids=["never worse", "at most"])
@pytest.mark.parametrize(
    ("ours", "theirs", "more", "holds"),
    [
        ({0: [3]}, {}, 1, False),
        ({0: [3, 4]}, {1: [3]}, 1, False),
        ({0: [3]}, {0: [3]}, 0, True),
        ({}, {0: [3]}, -1, True),
    ],
    ids=["one pod", "in the sum of the seeds", "the same", "theirs"],
)
def test_nobody_passes_by_leaving_pods_unplaced(line, ours, theirs, more, holds):
    def cards(value: float, unplaced: dict[int, list[int]]) -> dict:
        return {seed: make_card(value, unplaced=unplaced.get(seed, [])) for seed in range(12)}

    judged = judge(line, {OURS: cards(0.0, ours), KUBE: cards(5.0, theirs)})
    assert not judged.missing
    assert (judged.more_unplaced, judged.holds, judged.failed) == (more, holds, not holds)


@pytest.mark.parametrize("line", [_NEVER_WORSE, Line("jobs", _CPU, KUBE, 0.5)], ids=["never worse", "at most"])
@pytest.mark.parametrize(("count", "missing"), [(20, False), (19, True), (2, True)])
def test_a_line_is_not_decided_by_fewer_than_five_sixths_of_the_seeds(line, count, missing):
    theirs = cards_of([5.0] * count) | {seed: make_card(5.0, unplaced=[3]) for seed in range(count, 24)}
    judged = judge(line, {OURS: cards_of([0.0] * 24), KUBE: theirs})
    assert (judged.missing, judged.failed) == (missing, missing)


def test_who_leaves_pods_unplaced_has_failed_whatever_can_be_compared():
    left = {OURS: {seed: make_card(0.0, unplaced=[3]) for seed in range(4)}, KUBE: cards_of([5.0] * 4)}
    judged = judge(_NEVER_WORSE, left)
    assert judged.missing
    assert judged.failed
    assert not judged.undecided
    assert gate([judged]).rows[0][0].text == "FAILED: more pods not placed"


@pytest.mark.parametrize(
    ("first", "fresh", "says"),
    [
        ([2.0, 2.1], [3.0, 3.1], "FAILED"),
        ([2.0, 2.1], [3.0], "not decided"),
        ([2.0], [3.0, 3.1], "FAILED"),
        ([2.0], [3.0], "not decided"),
        ([2.0, 2.1], [0.5, 0.5], "holds on fresh seeds"),
        ([2.0], [0.5, 0.5], "holds on fresh seeds"),
    ],
)
def test_a_line_that_was_tried_again_is_told_by_the_fresh_seeds(first, fresh, says):
    def against(values: list[float]) -> dict:
        return against_kube(values, [1.0] * len(values))

    [judged] = repeated([judge(_NEVER_WORSE, against(first))], {"mixed": against(fresh)})
    assert judged.undecided is (says == "not decided")
    assert gate([judged]).rows[0][0].text == says


def test_seeds_that_only_one_of_them_has_cannot_be_compared():
    assert judge(_NEVER_WORSE, against_kube([0.0] * 24, [5.0] * 19)).missing
    assert judge(_NEVER_WORSE, against_kube([0.0] * 19, [5.0] * 24)).missing


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
