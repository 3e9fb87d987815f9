from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.load.entry import Entry
from plimsoll.load.estimate import PolicyLoad
from plimsoll.load.expected import Crowd, Expectations, PodUses, Usual, uses_of
from plimsoll.load.history import Past, Pasts, WorkloadHistory
from plimsoll.load.readings import ReadingState
from plimsoll.load.stays import stays, stays_on
from plimsoll.load.workload_use import Use, Uses, WorkloadUse
from plimsoll.policy.compiled import InFlight, Policy
from tests.builders import NOW_S, make_cache, make_load, make_node, make_pod, make_policy, make_readings

NODES = ("n1", "n2")
CPU = make_policy(weights={"cpu": 1})
LIMITED = make_policy(weights={"cpu": 1}, limits={"cpu": 0.8})
# Of a pod that requests nothing, in a cluster without pods, nothing is expected.
NOTHING = make_pod().info()


@pytest.fixture
def cache() -> Cache:
    return make_cache(make_node(name) for name in NODES)


def starting(cpu: str = "4", *, node: str = "n1", started_s: float | None = None) -> Entry:
    return Entry(make_pod("flying").cpu(cpu).on(node).info(), NOW_S, started_s)


def refresh(
    load: PolicyLoad, cache: Cache, utilisation: Mapping[str, Mapping[str, float | None]], *, at_s: float = NOW_S
) -> None:
    load.refresh(make_readings(utilisation, taken_at_s=at_s), cache.view, stays_on(()), cache.view.live, now_s=at_s)


# -- what is projected -------------------------------------------------------------------------------------


def test_a_fresh_reading_is_taken_as_it_is(cache: Cache) -> None:
    load = make_load(cache, CPU, make_readings({"cpu": {"n1": 0.3, "n2": 0.0}}))
    assert load.projected(cache.view, None).tolist() == [[0.3, 0.0]]


def test_readings_find_their_nodes_by_name(cache: Cache) -> None:
    load = make_load(cache, CPU, make_readings({"cpu": {"n2": 0.2, "gone": 0.9, "n1": 0.1}}))
    assert load.projected(cache.view, None).tolist() == [[0.1, 0.2]]


def test_a_pod_adds_what_it_is_expected_to_use(cache: Cache) -> None:
    cache.put_pod(make_pod().cpu("8").on("n2").info())
    load = make_load(cache, CPU, make_readings({"cpu": {"n1": 0.0, "n2": 0.25}}))
    with_pod = load.projected(cache.view, make_pod().cpu("4").info())
    # The cluster uses half of what it requests, so four cores asked are two expected.
    assert with_pod.tolist() == [[pytest.approx(2 / 16), pytest.approx(0.25 + 2 / 16)]]


def test_a_node_without_a_reading_is_presumed_to_carry_what_a_typical_one_does_and_a_margin(cache: Cache) -> None:
    cache.put_pod(make_pod().cpu("8").on("n1").info())
    cache.put_pod(make_pod().cpu("4").on("n2").info())
    load = make_load(cache, CPU, make_readings({"cpu": {"n1": 0.5, "n2": None}}))
    assert load.projected(cache.view, None).tolist() == [[0.5, pytest.approx(0.5 + 0.1)]]


def test_a_node_without_a_reading_is_judged_with_the_pod_on_it_as_well(cache: Cache) -> None:
    load = make_load(cache, CPU, make_readings({"cpu": {"n1": 0.0, "n2": None}}))
    pod = make_pod().cpu("4").info()
    added = load.projected(cache.view, pod) - load.projected(cache.view, None)
    assert added[0, 0] > 0
    assert added[0, 1] == pytest.approx(added[0, 0])


def test_so_it_is_by_a_network_that_was_not_measured(cache: Cache) -> None:
    policy = make_policy(weights={"networkReceive": 1})
    load = make_load(cache, policy, make_readings({"networkReceive": {"n1": 0.0, "n2": None}}))
    pod = make_pod().annotate("plimsoll.dev/network-receive", "25M").info()
    added = load.projected(cache.view, pod) - load.projected(cache.view, None)
    assert added.tolist() == [[pytest.approx(0.2), pytest.approx(0.2)]]


def test_a_stale_reading_is_half_replaced_by_requests_where_these_are_worse(cache: Cache) -> None:
    for name in NODES:
        cache.put_pod(make_pod(f"on-{name}").cpu("8").on(name).info())
    readings = make_readings({"cpu": {"n1": 1.0, "n2": 0.0}}, age_s=240)
    load = make_load(cache, CPU, readings)
    assert load.projected(cache.view, None).tolist() == [[1.0, pytest.approx(0.5 * 0.6)]]


def test_no_projection_is_ever_not_a_number(cache: Cache) -> None:
    cache.put_node(make_node("n3").offers(cpu="0", memory="0").info())
    policy = make_policy(weights={"cpu": 1, "memory": 1, "networkReceive": 1})
    nothing: dict[str, float | None] = dict.fromkeys([*NODES, "n3"])
    load = make_load(cache, policy, make_readings(dict.fromkeys(("cpu", "memory", "networkReceive"), nothing)))
    for pod in (None, make_pod().requests(cpu="1", memory="1Gi").annotate("plimsoll.dev/network-receive", "1M").info()):
        projected = load.projected(cache.view, pod)
        assert projected.shape == (3, 3)
        assert np.isfinite(projected).all()


def test_a_cluster_without_nodes_has_nothing_to_project() -> None:
    cache = make_cache()
    load = make_load(cache, CPU, make_readings({"cpu": {}}))
    assert load.projected(cache.view, None).shape == (1, 0)


# -- pods in flight ---------------------------------------------------------------------------------------


def test_a_pod_in_flight_counts_until_the_window_has_covered_it(cache: Cache) -> None:
    flying = starting("4", started_s=NOW_S)
    cache.put_pod(flying.pod)
    shown = []
    for after_s in (0, 75, 150, 300):
        # Idle otherwise; what the window has seen of the pod is in the measured value.
        seen = 4 / 16 * after_s / 300
        readings = make_readings({"cpu": {"n1": seen, "n2": 0.0}}, taken_at_s=NOW_S + after_s)
        load = make_load(cache, CPU, readings, [flying])
        ratio = load.metrics[0].usual.ratio
        shown.append(float(load.metrics[0].in_flight[0, 0]) / (4 * ratio))
    assert shown == pytest.approx([1.0, 0.75, 0.5, 0.0])


def test_a_pod_that_comes_between_refreshes_counts_at_once_and_once(cache: Cache) -> None:
    load = make_load(cache, CPU, make_readings({"cpu": {"n1": 0.0, "n2": 0.0}}))
    before = load.projected(cache.view, None)
    load.place(starting(), 0)
    load.place(starting(), 0)
    assert load.projected(cache.view, None)[0, 0] > before[0, 0]
    load.remove(starting().pod.uid)
    assert load.projected(cache.view, None).tolist() == before.tolist()
    load.remove(starting().pod.uid)
    assert load.projected(cache.view, None).tolist() == before.tolist()


def test_pods_in_flight_are_placed_anew_by_a_refresh(cache: Cache) -> None:
    load = make_load(cache, CPU, make_readings({"cpu": {"n1": 0.0, "n2": 0.0}}), [starting(node="n2")])
    once = float(load.metrics[0].in_flight[0, 1])
    again = make_readings({"cpu": {"n1": 0.0, "n2": 0.0}})
    load.refresh(
        again,
        cache.view,
        stays([starting(node="n2"), starting(node="elsewhere")], cache.view),
        cache.view.live,
        now_s=NOW_S,
    )
    assert load.metrics[0].in_flight.tolist() == [[0.0, once]]


def test_a_policy_may_leave_pods_in_flight_out(cache: Cache) -> None:
    policy = make_policy(weights={"cpu": 1}, in_flight=InFlight.IGNORE)
    load = make_load(cache, policy, make_readings({"cpu": {"n1": 0.0, "n2": 0.0}}), [starting()])
    load.place(starting(node="n2"), 1)
    assert load.metrics[0].in_flight.tolist() == [[0.0, 0.0]]


# -- limits -----------------------------------------------------------------------------------------------


def above(load: PolicyLoad, cache: Cache) -> list[str]:
    over = load.over_limits(cache.view, NOTHING)
    return [cache.view.name(int(row)) for row in np.flatnonzero(over)]


def test_a_limit_is_passed_only_from_above(cache: Cache) -> None:
    load = make_load(cache, LIMITED, make_readings({"cpu": {"n1": 0.8, "n2": 0.81}}))
    assert above(load, cache) == ["n2"]


def test_a_pod_that_would_pass_the_limit_is_too_much(cache: Cache) -> None:
    load = make_load(cache, LIMITED, make_readings({"cpu": {"n1": 0.7, "n2": 0.1}}))
    assert load.over_limits(cache.view, make_pod().cpu("2").info()).tolist() == [True, False]


def test_a_node_that_is_not_measured_is_not_refused_by_a_limit(cache: Cache) -> None:
    cache.put_pod(make_pod().cpu("16").on("n2").info())
    load = make_load(cache, LIMITED, make_readings({"cpu": {"n1": 0.9, "n2": None}}))
    assert above(load, cache) == ["n1"]


def test_a_limit_once_passed_holds_until_the_load_is_well_below_it(cache: Cache) -> None:
    load = PolicyLoad(LIMITED)
    course = [0.79, 0.81, 0.79, 0.76, 0.75, 0.79, 0.81]
    held = []
    for i, utilisation in enumerate(course):
        refresh(load, cache, {"cpu": {"n1": utilisation, "n2": 0.0}}, at_s=NOW_S + 30 * i)
        held.append(above(load, cache) == ["n1"])
    assert held == [False, True, True, True, False, False, True]


def test_marks_do_not_flip_between_refreshes(cache: Cache) -> None:
    load = PolicyLoad(LIMITED)
    refresh(load, cache, {"cpu": {"n1": 0.7, "n2": 0.0}})
    load.place(starting("4"), 0)
    assert above(load, cache) == ["n1"]
    load.remove(starting().pod.uid)
    assert above(load, cache) == []


def test_nor_do_they_when_a_node_comes(cache: Cache) -> None:
    load, readings = PolicyLoad(LIMITED), make_readings({"cpu": {"n1": 0.78, "n2": 0.0}})
    load.refresh(readings, cache.view, stays_on(()), cache.view.live, now_s=NOW_S)
    cache.put_node(make_node("n3").info())
    load.refresh(readings, cache.view, stays([starting("4")], cache.view), cache.view.live, now_s=NOW_S)
    assert above(load, cache) == ["n1"]
    load.remove(starting().pod.uid)
    assert above(load, cache) == []


def test_marks_stay_with_their_nodes_when_rows_change(cache: Cache) -> None:
    load = PolicyLoad(LIMITED)
    refresh(load, cache, {"cpu": {"n1": 0.5, "n2": 0.9}})
    readings = make_readings({"cpu": {"n1": 0.77, "n2": 0.77}}, taken_at_s=NOW_S + 30)
    load.refresh(readings, cache.view, stays_on(()), cache.view.live, now_s=NOW_S + 30)
    cache.drop_node("n1")
    cache.drop_node("n2")
    for name in ("n2", "n1"):
        cache.put_node(make_node(name).info())
    assert not load.current(cache.view)
    load.refresh(readings, cache.view, stays_on(()), cache.view.live, now_s=NOW_S + 30)
    assert load.current(cache.view)
    assert above(load, cache) == ["n2"]


# -- whether metrics count at all ---------------------------------------------------------------------------


def test_a_policy_without_metrics_sets_nothing_aside(cache: Cache) -> None:
    load = make_load(cache, make_policy(), make_readings({}))
    assert (load.set_aside, load.counts) == ("", False)


def test_before_the_first_answer_metrics_are_set_aside() -> None:
    assert PolicyLoad(CPU).set_aside == "no metric has been answered yet"


def test_where_no_metric_is_answered_the_failure_is_told(cache: Cache) -> None:
    load = make_load(cache, CPU, make_readings({}, failures={"cpu": "Prometheus did not answer."}))
    assert (load.set_aside, load.counts) == ("Prometheus did not answer.", False)


def test_where_too_few_nodes_are_measured_metrics_are_set_aside() -> None:
    cache = make_cache(make_node(f"n{i}") for i in range(50))
    measured: dict[str, float | None] = {f"n{i}": 0.1 if i < 2 else None for i in range(50)}
    load = make_load(cache, CPU, make_readings({"cpu": measured}))
    assert (load.set_aside, load.counts) == ("only 2 of 50 nodes have fresh metrics", False)


def test_a_metric_that_failed_is_set_aside_alone(cache: Cache) -> None:
    policy = make_policy(weights={"cpu": 1, "memory": 1})
    load = make_load(cache, policy, make_readings({"cpu": {"n1": 0.1, "n2": 0.2}}, failures={"memory": "no"}))
    assert [metric.metric.name for metric in load.metrics] == ["cpu"]
    assert load.counts


def test_a_node_is_as_fresh_as_its_worst_metric(cache: Cache) -> None:
    policy = make_policy(weights={"cpu": 1, "memory": 1})
    load = make_load(cache, policy, make_readings({"cpu": {"n1": 0.1, "n2": 0.2}, "memory": {"n1": 0.1, "n2": None}}))
    assert load.state(cache.view).tolist() == [ReadingState.OK, ReadingState.MISSING]
    assert load.sampled_at_s([0, 1]) == [NOW_S, NOW_S]  # of n2 by cpu
    assert make_load(cache, CPU, make_readings({"cpu": {"n2": 0.1}})).sampled_at_s([0]) == [None]


def test_a_metric_that_few_nodes_have_is_set_aside_alone() -> None:
    nodes = [f"n{i}" for i in range(5)]
    measured: dict[str, float | None] = dict.fromkeys(nodes, 0.5)
    few = {**dict.fromkeys(nodes[:3]), "n3": 0.95, "n4": 0.1}
    policy = make_policy(weights={"cpu": 1, "memory": 1}, limits={"memory": 0.8})
    cache = make_cache(map(make_node, nodes))
    load = make_load(cache, policy, make_readings({"cpu": measured, "memory": few}))
    assert (load.counts, load.set_aside) == (True, "")
    assert load.metrics_aside == {"memory": "only 2 of 5 nodes have fresh metrics"}
    assert [metric.metric.name for metric in load.metrics] == ["cpu"]
    assert [metric.metric.name for metric in load.answered] == ["cpu", "memory"]
    assert not load.over_limits(cache.view, NOTHING).any()
    assert load.state(cache.view).tolist() == [ReadingState.OK] * 5
    load.refresh(
        make_readings({"cpu": measured, "memory": measured}), cache.view, stays_on(()), cache.view.live, now_s=NOW_S
    )
    assert (load.metrics_aside, len(load.metrics)) == ({}, 2)


def test_where_all_are_nothing_counts() -> None:
    few = {"n0": 0.5, "n1": None, "n2": None}
    policy = make_policy(weights={"cpu": 1, "memory": 1})
    load = make_load(make_cache(map(make_node, few)), policy, make_readings({"cpu": few, "memory": few}))
    assert (load.counts, load.set_aside) == (False, "only 1 of 3 nodes have fresh metrics")
    assert (load.metrics_aside, len(load.metrics)) == ({}, 2)


def test_a_wrong_clock_hides_no_pod_that_has_just_come(cache: Cache) -> None:
    """Its sample says that it is from after the pod's start, and is not."""
    flying = starting("4", started_s=NOW_S - 300)
    true = make_load(cache, CPU, make_readings({"cpu": {"n1": 0.1, "n2": 0.1}}, age_s=300), [flying])
    wrong = make_load(cache, CPU, make_readings({"cpu": {"n1": 0.1, "n2": 0.1}}, age_s=-300), [flying])
    assert wrong.metrics[0].in_flight.tolist() == true.metrics[0].in_flight.tolist()
    assert wrong.metrics[0].in_flight[0, 0] > 0
    assert wrong.metrics[0].confidence.tolist() == true.metrics[0].confidence.tolist()


# -- what a pod is expected to use ---------------------------------------------------------------------------


def learnt(utilisation: float | None, *, asked: str = "4", pods: int = 1, metric: str = "cpu") -> Usual:
    there = [make_pod(f"p{i}").cpu(asked).on("n1") for i in range(pods)]
    cache = make_cache([make_node("n1")], there)
    load = make_load(cache, _weighing(metric), make_readings({metric: {"n1": utilisation}}))
    return load.metrics[0].usual


def _weighing(metric: str) -> Policy:
    return make_policy(weights={metric: 1})


@pytest.mark.parametrize(
    ("utilisation", "want"),
    [
        pytest.param(0.25, 1.0, id="as much as is asked"),
        pytest.param(0.125, 0.5, id="half of it"),
        pytest.param(0.0, 0.1, id="an idle cluster: a pod is still seen"),
        pytest.param(1.0, 2.0, id="requests far too small: no pod is made huge"),
    ],
)
def test_pods_use_what_they_ask_for_by_the_clusters_habit(utilisation: float, want: float) -> None:
    found = learnt(utilisation)
    assert found.ratio == pytest.approx(want)
    assert Expectations("cpu", found).of(make_pod().cpu("2").info()) == pytest.approx(2 * want)


def test_a_pod_that_asks_for_nothing_uses_what_pods_use_here() -> None:
    found = learnt(0.5, asked="0", pods=4)
    assert found == Usual(ratio=1.0, per_pod=pytest.approx(2.0))
    assert Expectations("cpu", found).of(make_pod().info()) == pytest.approx(2.0)


def test_nothing_is_learnt_where_nothing_is_measured() -> None:
    assert learnt(None) == Usual()
    assert Expectations("cpu", Usual()).of(make_pod().info()) == 0.0


def test_memory_is_counted_in_bytes() -> None:
    assert Expectations("memory", Usual(ratio=0.5)).of(make_pod().memory("1Gi").info()) == 2**29


def test_network_use_is_what_the_pod_says_and_else_nothing() -> None:
    told = make_pod().annotate("plimsoll.dev/network-transmit", "5M").info()
    assert Expectations("networkTransmit", Usual(ratio=2.0)).of(told) == 5e6
    assert Expectations("networkReceive", Usual(ratio=2.0)).of(told) == 0.0
    assert learnt(0.5, metric="networkReceive") == Usual()


def test_nodes_that_are_not_fresh_teach_nothing() -> None:
    there = [make_pod(f"on-{name}").cpu("8").on(name) for name in NODES]
    load = make_load(make_cache(map(make_node, NODES), there), CPU, make_readings({"cpu": {"n1": 0.5, "n2": None}}))
    assert load.metrics[0].usual == Usual(ratio=1.0, per_pod=8.0)


def test_pods_in_flight_are_not_taken_for_pods_that_use_nothing() -> None:
    """Or after a burst all pods would seem light, and the next burst would go where this one went."""
    there = make_pod("there").cpu("8").on("n1")
    flying = [starting("4", node="n2"), starting("4", node="n2", started_s=NOW_S)]
    flying = [Entry(replace(e.pod, uid=Uid(f"flying-{i}")), e.placed_s, e.started_s) for i, e in enumerate(flying)]
    cache = make_cache(map(make_node, NODES), [there])
    for entry in flying:
        cache.put_pod(entry.pod)
    load = make_load(cache, CPU, make_readings({"cpu": {"n1": 0.25, "n2": 0.0}}), flying)
    assert load.metrics[0].usual == Usual(ratio=0.5, per_pod=4.0)
    # Half of the window has seen the second one, which uses as much as the first.
    readings = make_readings({"cpu": {"n1": 0.25, "n2": 0.0625}}, taken_at_s=NOW_S + 150)
    load = make_load(cache, CPU, readings, flying)
    assert load.metrics[0].usual == Usual(ratio=0.5, per_pod=pytest.approx(5 / 1.5))


def test_a_broken_exporter_does_not_make_every_pod_huge() -> None:
    there = [make_pod(f"on-{name}").on(name).started() for name in NODES]
    load = make_load(make_cache(map(make_node, NODES), there), CPU, make_readings({"cpu": {"n1": 1e300, "n2": 0.25}}))
    assert load.metrics[0].usual == Usual(ratio=1.0, per_pod=(16 + 4) / 2)


def past(mean: float, *, minutes: float, sd: float = 0.0) -> Pasts:
    return Pasts.of({make_pod().info().workload: Past(mean, sd, minutes)})


def at_once(pods: list[PodInfo], expectations: Expectations) -> PodUses:
    return uses_of(Crowd.of(pods, expectations.pasts.directory), [expectations])


@pytest.mark.parametrize(
    ("minutes", "want"),
    [
        pytest.param(0.0, 2.0, id="nothing was watched yet"),
        pytest.param(3.0, 1.5, id="half and half"),
        pytest.param(27.0, 1.1, id="nearly all history"),
    ],
)
def test_history_takes_the_place_of_requests_as_it_grows(minutes: float, want: float) -> None:
    asked = make_pod().owner("Job", "web").cpu("2").info()
    expectations = Expectations("cpu", Usual(), Pasts.of({asked.workload: Past(1.0, 0.0, minutes)}))
    assert expectations.of(asked) == pytest.approx(want)


def test_a_pod_that_comes_is_expected_to_use_half_a_deviation_more_and_one_that_goes_is_not() -> None:
    expectations = Expectations("cpu", Usual(per_pod=1.0), past(1.0, sd=0.4, minutes=3.0))
    uses = at_once([make_pod().info()], expectations)
    assert (uses.expected.tolist(), uses.habit.tolist(), uses.known.tolist()) == ([[1.1]], [[1.0]], [[0.5]])
    assert expectations.of(make_pod().info()) == pytest.approx(1.1)


def test_of_many_pods_the_same_is_expected_as_of_each() -> None:
    pods = [make_pod().info(), make_pod().cpu("3").info(), make_pod().owner("Job", "j").cpu("1").info()]
    expectations = Expectations("cpu", Usual(ratio=0.5, per_pod=2.0), past(1.0, sd=0.4, minutes=5.0))
    assert at_once(pods, expectations).expected.tolist() == [[expectations.of(pod) for pod in pods]]


def test_network_is_what_the_pod_says_before_what_pods_receive_in_the_mean() -> None:
    usually = Usual(per_pod=4e6)
    told = make_pod().annotate("plimsoll.dev/network-receive", "0").info()
    assert Expectations("networkReceive", usually).of(told) == 0.0
    assert Expectations("networkReceive", usually).of(make_pod().info()) == 4e6
    assert Expectations("networkReceive", usually, past(2e6, minutes=3.0)).of(told) == 1e6


def test_the_estimate_learns_from_the_history_that_it_is_given(cache: Cache) -> None:
    history, policy = WorkloadHistory(), make_policy(weights={"networkReceive": 1})
    web, other = make_pod().owner("Job", "web").info(), make_pod().owner("Job", "other").info()
    for minute in range(4):
        history.observe(
            WorkloadUse(NOW_S + 60 * minute, {"networkReceive": Uses.of({web.workload: Use(2, 1e6, 1e12)})})
        )
    load = PolicyLoad(policy, history)
    readings = make_readings({"networkReceive": {"n1": 0.1, "n2": 0.1}})
    load.refresh(readings, cache.view, stays_on(()), cache.view.live, now_s=NOW_S)
    assert [load.metrics[0].expected(pod) for pod in (web, other)] == pytest.approx([1e6, 1e6])


def test_a_node_is_taken_to_carry_no_less_than_its_pods_are_known_to_use(cache: Cache) -> None:
    history, policy = WorkloadHistory(), make_policy(weights={"cpu": 1})
    web = make_pod("web").owner("Job", "web").on("n1").info()
    for minute in range(28):
        history.observe(WorkloadUse(NOW_S + 60 * minute, {"cpu": Uses.of({web.workload: Use(1, 8.0, 64.0)})}))
    cache.put_pod(web)
    cache.put_pod(make_pod("unknown").cpu("9").on("n2").info())
    load = PolicyLoad(policy, history)
    load.refresh(make_readings({"cpu": {"n1": 0.0, "n2": 0.0}}), cache.view, stays_on(()), cache.view.live, now_s=NOW_S)
    newcomer = make_pod().cpu("0").info()
    (metric,) = load.metrics
    known, own = 0.9 * 8.0 / 16, metric.expected(newcomer) / 16
    assert load.lasting(cache.view, newcomer)[0].tolist() == pytest.approx([known + own, own])
    assert load.projected(cache.view, newcomer)[0].tolist() == pytest.approx([own, own])
