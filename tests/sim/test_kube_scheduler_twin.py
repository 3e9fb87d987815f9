"""kube-scheduler's twin gives the points of kube-scheduler's own tests, and those of the product's plugins."""

from __future__ import annotations

from collections.abc import Sequence

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from plimsoll.cluster.kinds import KINDS
from plimsoll.cluster.services import Service
from plimsoll.filters.node_resources_fit import NodeResourcesFit
from plimsoll.scores.preferred import pod_topology_spread
from plimsoll.scores.preferred.caches import PreferenceCaches
from plimsoll.sim.contenders.kube_scheduler import (
    KubeScheduler,
    balanced_allocation,
    default_spread,
    least_allocated,
)
from plimsoll.sim.demand import Demand
from plimsoll.sim.metrics import MetricsPlane
from plimsoll.sim.world import Owner, Pod
from tests.builders import make_cache, make_node, make_pod
from tests.sim.peers_worlds import GIBI, small_world

Pair = tuple[int, int]


def columns(*pairs: Pair) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """[2, N] from one pair of millicores and bytes for each node."""
    return np.array(pairs, dtype=np.int64).T


@pytest.mark.parametrize(
    ("requested", "allocatable", "want"),
    [
        pytest.param([(3000, 5000)] * 2, [(4000, 10000), (6000, 10000)], [37, 50], id="nodes of different size"),
        pytest.param([(6000, 0), (6000, 5000)], [(10000, 20000)] * 2, [70, 57], id="pods there, nothing requested"),
        pytest.param([(6000, 5000), (6000, 10000)], [(10000, 20000)] * 2, [57, 45], id="pods there, more requested"),
        pytest.param([(6000, 5000), (6000, 10000)], [(10000, 20000), (10000, 50000)], [57, 60], id="different memory"),
        pytest.param([(6000, 0), (6000, 5000)], [(4000, 10000)] * 2, [50, 25], id="more than there is"),
        pytest.param([(0, 0)], [(4000, 10000)], [100], id="nothing at all"),
    ],
)
def test_least_allocated_scores_as_upstreams_tests(
    requested: Sequence[Pair], allocatable: Sequence[Pair], want: Sequence[int]
) -> None:
    assert least_allocated(columns(*requested), columns(*allocatable)).tolist() == want


@pytest.mark.parametrize(
    ("requested", "pod", "allocatable", "want"),
    [
        pytest.param(
            [(0, 0)] * 2, (3000, 5000), [(4000, 10000), (6000, 10000)], [68, 75], id="nodes of different size"
        ),
        pytest.param([(3000, 0), (3000, 5000)], (3000, 5000), [(10000, 20000)] * 2, [73, 74], id="pods there"),
        pytest.param(
            [(3000, 0), (3000, 5000)], (3000, 5000), [(10000, 20000), (10000, 50000)], [73, 70], id="different memory"
        ),
        pytest.param([(3000, 0), (0, 0)], (0, 5000), [(3000, 5000)] * 2, [100, 50], id="the most and the least"),
        pytest.param([(3000, 0), (3000, 5000)], (3000, 0), [(6000, 10000)] * 2, [62, 62], id="at capacity"),
        pytest.param([(0, 0)], (3000, 5000), [(3500, 40000)], [56], id="far apart"),
        pytest.param([(3000, 0)], (0, 0), [(4000, 10000)], [0], id="a best-effort pod is not scored"),
    ],
)
def test_balanced_allocation_scores_the_change_as_upstreams_tests(
    requested: Sequence[Pair], pod: Pair, allocatable: Sequence[Pair], want: Sequence[int]
) -> None:
    found = balanced_allocation(columns(*requested), np.array(pod), columns(*allocatable))
    assert found.tolist() == want


@pytest.mark.parametrize(
    ("replicas", "fit", "want"),
    [
        pytest.param([0, 0, 0], [True] * 3, [100] * 3, id="no replicas anywhere"),
        # ln 6 = 1.79: raw 6, 4, 2 and 7 of the counts 2, 1, 0 and 3.
        pytest.param([2, 1, 0, 3], [True] * 4, [42, 71, 100, 28], id="2/1/0/3 of four nodes"),
        # ln 4 = 1.39: raw 3 and 2 of the counts 1 and 0; what does not fit has no part in it.
        pytest.param([9, 1, 0], [False, True, True], [66, 100], id="nodes that do not fit do not count"),
    ],
)
def test_default_spreading_tolerates_a_skew_of_three(replicas: list[int], fit: list[bool], want: list[int]) -> None:
    found = default_spread(np.array(replicas), np.array(fit))
    assert found[np.array(fit)].tolist() == want


@given(
    st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=1, max_size=8).filter(
        lambda n: any(f for _, f in n)
    )
)
def test_default_spreading_is_that_of_the_product(nodes: list[tuple[int, bool]]) -> None:
    names = [f"n{i}" for i in range(len(nodes))]
    there = [make_pod().labels(app="web").on(name) for name, (n, _) in zip(names, nodes, strict=True) for _ in range(n)]
    cache = make_cache([make_node(name).allocatable(pods="110") for name in names], there)
    cache.put_object(KINDS["Service"], Service("default", "web", {"app": "web"}))
    feasible = cache.view.live.copy()
    fit = np.array([fits for _, fits in nodes])
    rows = [cache.view.row_of[name] for name in names]
    feasible[rows] = fit
    theirs = pod_topology_spread.score(cache.view, make_pod().labels(app="web").info(), feasible, PreferenceCaches())
    assert theirs is not None
    ours = default_spread(np.array([count for count, _ in nodes]), fit)
    assert ours[fit].tolist() == theirs[rows][fit].tolist()


def twin() -> KubeScheduler:
    world = small_world()
    return KubeScheduler(world, MetricsPlane(world, Demand(world), np.random.default_rng(1)), np.random.default_rng(2))


def replica(cores: float, mem_bytes: float, owner: Owner = Owner.JOB) -> Pod:
    return Pod(
        app=0,
        owner=owner,
        arrives_s=0.0,
        lifetime_s=60.0,
        ready_s=0.0,
        lag_s=0.0,
        request=(cores, mem_bytes),
        limit=(0.0, 0.0),
    )


@given(
    st.lists(st.tuples(st.floats(0, 6), st.floats(0, 12 * GIBI)), min_size=1, max_size=12),
    st.tuples(st.floats(0, 20), st.floats(0, 40 * GIBI)),
)
def test_a_pod_fits_where_the_products_filter_lets_it(
    there: list[tuple[float, float]], new: tuple[float, float]
) -> None:
    scheduler = twin()
    nodes = [
        make_node(n.name).allocatable(cpu=f"{n.cores:g}", memory=f"{int(n.mem_bytes)}", pods="110")
        for n in scheduler.world.nodes
    ]
    for at in range(len(nodes)):
        scheduler.node_joined(at, now_s=0.0)
    scheduler.world.pods[:] = [replica(*request) for request in (*there, new)]
    for pod, _ in enumerate(there):
        scheduler.arrived(pod, now_s=0.0)
    placed = dict(scheduler.place(now_s=0.0))
    whole = [(round(1000 * cores), round(mem_bytes)) for cores, mem_bytes in (*there, new)]
    on_nodes = [
        make_pod().requests(cpu=f"{whole[p][0]}m", memory=f"{whole[p][1]}").on(scheduler.world.nodes[n].name)
        for p, n in placed.items()
    ]
    cache = make_cache(nodes, on_nodes)
    waiting = make_pod().requests(cpu=f"{whole[-1][0]}m", memory=f"{whole[-1][1]}").info()
    refused = np.zeros(cache.view.size, dtype=np.bool_)
    for refusal in NodeResourcesFit().prepare(cache.view, waiting).refusals():
        refused |= refusal.rows
    scheduler.arrived(len(there), now_s=0.0)
    chosen = [node for _, node in scheduler.place(now_s=0.0)]
    rows = [cache.view.row_of[n.name] for n in scheduler.world.nodes]
    assert bool(chosen) == bool((~refused[rows]).any())
    assert all(not refused[rows[node]] for node in chosen)


def test_pods_without_requests_count_as_a_tenth_of_a_core_and_200_mebibytes() -> None:
    scheduler = twin()
    scheduler.world.pods[:] = [replica(0.0, 0.0)]
    scheduler.node_joined(0, now_s=0.0)
    before = scheduler.by_requests(replica(0.0, 0.0))
    scheduler.arrived(0, now_s=0.0)
    assert [tuple(p) for p in scheduler.place(now_s=0.0)] == [(0, 0)]
    # Each takes 0.6 percent of 16 cores and of 32 GiB, and BalancedAllocation leaves both out.
    assert before[0] == 99
    assert scheduler.by_requests(replica(0.0, 0.0))[0] == 98


def test_only_services_are_spread() -> None:
    scheduler = twin()
    fit = np.ones(len(scheduler.live), dtype=np.bool_)
    assert not scheduler.by_spread(replica(1.0, 1.0, Owner.JOB), fit).any()
    assert (scheduler.by_spread(replica(1.0, 1.0, Owner.SERVICE), fit) == 200).all()
