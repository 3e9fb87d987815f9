from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import PolicyError
from plimsoll.load.readings import Oddities, ReadingState
from plimsoll.policy.compiled import Metric, MetricsServerSource, Mode
from plimsoll.policy.models.status import Status
from plimsoll.reporting.status import MAX_SCORES, invalid_status, policy_status
from plimsoll.scheduling.observing import Observed
from plimsoll.scheduling.regret import Regret

# etcd refuses objects above 1.5 MiB; a status this size can be sent to every watcher at every refresh.
MAX_STATUS_BYTES = 150_000


def test_it_shows_what_people_ask_for(overview, node, readings, now_s):
    oddities = Oddities(counts={"Unmapped": 2}, examples={"Unmapped": "up{}"})
    seen = overview(
        node("node-7", score=91.4, networkReceive=4, memory=30),
        node("node-3", score=20.0, state=ReadingState.STALE, networkReceive=97, memory=None),
        node("node-5", score=10.0, state=ReadingState.MISSING),
        bound=240,
        pending=3,
        readings=readings(oddities=oddities),
    )
    status = policy_status(seen, previous=None, now_s=now_s)
    conditions = status.pop("conditions")
    assert status == {
        "observedGeneration": 4,
        "source": "Prometheus",
        "lastRefreshTime": "2025-12-31T23:59:55Z",
        "nodes": {"total": 3, "fresh": 1, "stale": 1, "missing": 1, "summary": "1/3"},
        "unmappedSeries": {"count": 2, "example": "up{}"},
        "best": {"node": "node-7", "score": 91},
        "bound": 240,
        "pending": 3,
        "scores": [
            {
                "node": "node-7",
                "score": 91,
                "state": "Fresh",
                "sampleTime": "2025-12-31T23:59:45Z",
                "metrics": {"networkReceive": 4, "memory": 30},
            },
            {
                "node": "node-3",
                "score": 20,
                "state": "Stale",
                "sampleTime": "2025-12-31T23:59:45Z",
                "metrics": {"networkReceive": 97},
            },
            {"node": "node-5", "score": 10, "state": "Missing"},
        ],
    }
    assert [c["type"] for c in conditions] == ["Ready", "MetricsAvailable"]
    assert all(c["observedGeneration"] == 4 for c in conditions)


def test_what_is_not_known_is_absent_and_never_zero(overview, node, now_s):
    seen = overview(node("a", score=None, state=ReadingState.MISSING), readings=None, source=MetricsServerSource())
    status = policy_status(seen, previous=None, now_s=now_s)
    assert status["source"] == "MetricsServer"
    assert {"lastRefreshTime", "best", "unmappedSeries", "regret", "observed", "worst"}.isdisjoint(status)
    assert status["scores"] == [{"node": "a", "state": "Missing"}]


def test_of_a_policy_that_observes_it_shows_the_regret_and_the_worst(overview, node, now_s):
    worst = Regret("network-first", "shop/web-1", "node-3", 40.2, "node-7", 91.0, feasible=3, refused=False)
    seen = overview(node("a"), mode=Mode.OBSERVE, observed=Observed(214, 7.6, worst))
    status = policy_status(seen, previous=None, now_s=now_s)
    assert (status["regret"], status["observed"]) == (8, 214)
    assert status["worst"] == {"pod": "shop/web-1", "node": "node-3", "best": "node-7", "regret": 51}
    Status.model_validate(status)


def test_a_refresh_that_nobody_answered_is_no_refresh(overview, node, readings, now_s):
    first = policy_status(overview(node("a")), previous=None, now_s=now_s)
    broken = overview(node("a"), readings=readings(failures={"": "gone"}, taken_at_s=now_s))
    assert policy_status(broken, previous=first, now_s=now_s)["lastRefreshTime"] == first["lastRefreshTime"]
    assert "lastRefreshTime" not in policy_status(broken, previous=None, now_s=now_s)


def test_a_source_that_may_not_be_asked_yet_is_named(overview, node, now_s):
    seen = overview(node("a"), source=None, not_yet_enforced=("spec.metricsSource.prometheus.tls",))
    assert policy_status(seen, previous=None, now_s=now_s)["source"] == "Prometheus"


def test_a_transition_time_moves_only_when_the_status_flips(overview, node, readings, now_s):
    well, broken = overview(node("a")), overview(node("a"), readings=readings(failures={"memory": "no series"}))

    def times(status):
        return {c["type"]: c["lastTransitionTime"] for c in status["conditions"]}

    first = policy_status(well, previous=None, now_s=now_s)
    same = policy_status(overview(node("a"), node("b")), previous=first, now_s=now_s + 60)
    assert times(same) == times(first)
    flipped = policy_status(broken, previous=same, now_s=now_s + 120)
    assert times(flipped) == {"Ready": "2026-01-01T00:02:00Z", "MetricsAvailable": "2026-01-01T00:00:00Z"}


def test_nothing_of_the_last_valid_generation_is_left_in_an_invalid_status(overview, node, now_s):
    before = policy_status(overview(node("a")), previous=None, now_s=now_s)
    error = PolicyError(field="spec", problem="p", mend="m")
    status = invalid_status(generation=5, error=error, previous=before, now_s=now_s + 1)
    assert set(status) == {"observedGeneration", "conditions"}


@pytest.mark.parametrize("nodes", [101, 20_000])
def test_it_does_not_grow_with_the_cluster(overview, node, now_s, nodes):
    metrics = ("networkReceive", "networkTransmit", "memory", "cpu")
    rows = [node(f"{i:05}-{'n' * 247}", **dict.fromkeys(metrics, 100)) for i in range(nodes)]
    seen = overview(*rows, metrics=tuple(Metric(name, 1) for name in metrics))
    status = policy_status(seen, previous=None, now_s=now_s)
    assert len(status["scores"]) == MAX_SCORES == 100
    assert status["nodes"]["total"] == nodes
    assert len(json.dumps(status)) < MAX_STATUS_BYTES


NODES = st.lists(
    st.tuples(
        st.none() | st.floats(0, 100),
        st.sampled_from(ReadingState),
        st.dictionaries(st.sampled_from(["memory", "networkReceive"]), st.none() | st.integers(0, 400)),
    ),
    max_size=130,
)
FAILURES = st.dictionaries(st.sampled_from(["", "memory", "networkReceive"]), st.text(max_size=5000))


@given(
    rows=NODES,
    failures=FAILURES,
    set_aside=st.sampled_from(["", "too few"]),
    counts=st.tuples(st.integers(0, 10**5), st.integers(0, 10**5)),
    example=st.text(max_size=2000),
)
def test_every_status_is_one_that_the_crd_allows(
    *, overview, node, readings, now_s, rows, failures, set_aside, counts, example
):
    nodes = [node(f"n{i}", score=score, state=state, **metrics) for i, (score, state, metrics) in enumerate(rows)]
    oddities = Oddities(counts={"Unmapped": 1}, examples={"Unmapped": example})
    seen = overview(
        *nodes,
        readings=readings(failures=failures, oddities=oddities),
        load_set_aside=set_aside,
        bound=counts[0],
        pending=counts[1],
    )
    status = policy_status(seen, previous=None, now_s=now_s)
    assert json.loads(json.dumps(status, allow_nan=False)) == status
    Status.model_validate(status)
    assert sum(status["nodes"][state] for state in ("fresh", "stale", "missing")) == status["nodes"]["total"]
