"""What is kept of costs between decisions does not outlive its policy or its readings, however many policies there are."""

from __future__ import annotations

import gc

import pytest

from plimsoll.scheduling.row_costs import RowCosts
from tests.builders import make_node, make_pod, make_policy
from tests.scheduling.conftest import World

# For each of so many policies, and of all of them.
CLASSES, AT_MOST = 10, 64


def kept(world: World) -> int:
    """Classes of pods whose costs are kept, of whichever policy."""
    view = world.scheduler._cache.view
    return sum(isinstance(thing, RowCosts) and thing._view is view for thing in gc.get_objects())


def decide_by(world: World, policy: str, *, classes: int = CLASSES) -> None:
    for i in range(classes):
        pod = make_pod("probe").cpu(f"{100 + i}m").annotate("plimsoll.dev/policy", policy)
        assert world.probe(pod).policy == policy


def measured(world: World, *policies: str) -> None:
    for name in policies:
        world.readings(name, {"cpu": {"n1": 0.1, "n2": 0.2}})


@pytest.fixture
def decided(world: World) -> World:
    """By both of two policies, and no more since."""
    world.nodes(make_node("n1"), make_node("n2"))
    world.policies(*(make_policy(name, weights={"cpu": 1}, priority=i) for i, name in enumerate("pq")))
    measured(world, "p", "q")
    decide_by(world, "p")
    decide_by(world, "q")
    assert kept(world) == 2 * CLASSES
    return world


def test_nothing_of_older_readings_is_kept(decided: World) -> None:
    measured(decided, "p")
    assert kept(decided) == CLASSES
    measured(decided, "q")
    assert kept(decided) == 0


def test_a_policy_that_is_gone_leaves_nothing_behind(decided: World) -> None:
    decided.policies(make_policy("p", weights={"cpu": 1}, priority=0))
    assert kept(decided) == CLASSES
    decided.policies()
    assert kept(decided) == 0


def test_a_policy_that_is_another_leaves_nothing_behind(decided: World) -> None:
    decided.policies(*(make_policy(name, weights={"cpu": 2 - i}, priority=i) for i, name in enumerate("pq")))
    assert kept(decided) == CLASSES


def test_what_is_kept_is_bounded_over_all_policies_together(world: World) -> None:
    names = [f"p{i}" for i in range(20)]
    world.nodes(make_node("n1"), make_node("n2"))
    world.policies(*(make_policy(name, weights={"cpu": 1}, priority=i) for i, name in enumerate(names)))
    measured(world, *names)
    for name in names:
        decide_by(world, name)
    assert CLASSES < kept(world) <= AT_MOST
