from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.filters.interface import ClusterFilter, NodeFilter
from tests.oracle.cases import Judge, disagreements
from tests.oracle.clusters.cluster import cluster
from tests.oracle.counting import Counts
from tests.oracle.deviations import documented
from tests.oracle.kept import deviation_case, kept, load
from tests.oracle.mutating import EVERY, UNREACHABLE, passing_all
from tests.oracle.running import run
from tests.oracle.source import Source

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@st.composite
def clusters(draw: Any) -> list[dict[str, Any]]:
    return cluster(Source.drawn(draw))


def test_on_a_thousand_random_pods(judge: Judge) -> None:
    seed = random.SystemRandom().randrange(10**9)
    done = run(judge, pods=1_000, seed=seed)
    print(f"seed {seed}", *done.counts.lines(), sep="\n")
    said = [f"python -m tests.oracle --seed {found_seed}: {found}" for found_seed, found in done.found]
    assert not said, said[0]
    assert done.counts.placeable > 100
    assert done.counts.nominated > 20


@pytest.mark.parametrize("path", kept(), ids=lambda path: path.stem)
def test_on_every_cluster_on_which_the_two_once_disagreed(judge: Judge, path: Path) -> None:
    assert not disagreements(load(path), judge)


@pytest.mark.parametrize("name", sorted(documented()))
def test_an_intended_deviation_is_one_still(judge: Judge, name: str) -> None:
    """Where the two agree by now, the page and the exception have become untrue."""
    counts = Counts()
    assert not disagreements(load(deviation_case(name)), judge, counts)
    assert counts.deviations[name]


@pytest.mark.parametrize("mutated", [f for f in EVERY if f.name not in UNREACHABLE], ids=lambda f: f.name)
def test_a_filter_that_lets_everything_pass_is_missed(judge: Judge, mutated: NodeFilter | ClusterFilter) -> None:
    with passing_all(mutated):
        assert run(judge, pods=3_000, seed=1).found


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(items=clusters())
def test_on_clusters_that_hypothesis_draws_and_shrinks(judge: Judge, items: list[dict[str, Any]]) -> None:
    assert not disagreements(items, judge)
