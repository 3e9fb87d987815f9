from __future__ import annotations

import pytest

from plimsoll.errors import PolicyError
from plimsoll.load.readings import Oddities, ReadingState
from plimsoll.policy.compiled import Metric, MetricsServerSource, Mode, OnMissing, Problem
from plimsoll.reporting.policy_conditions import conditions, metrics_available, ready
from plimsoll.reporting.status import invalid_status

GONE = "http://prometheus:9090 cannot be reached: connection refused"


def test_a_policy_that_works_is_in_force_on_all_nodes(overview, node):
    seen = overview(node("a"), node("b"))
    assert [(c.type, c.status, c.reason) for c in conditions(seen)] == [
        ("Ready", "True", "InForce"),
        ("MetricsAvailable", "True", "AllNodesFresh"),
    ]


def test_a_policy_that_observes_is_in_force_and_says_that_it_places_nothing(overview, node):
    seen = overview(node("a"), mode=Mode.OBSERVE)
    assert (ready(seen).status, ready(seen).reason) == ("True", "InForce")
    assert ready(seen).message == "The policy is in force: it observes, and places nothing."


@pytest.mark.parametrize(
    ("changes", "want"),
    [
        pytest.param({}, "pods are placed by requests, spreading and the history of workloads.", id="Spread"),
        pytest.param({"pack_target": 0.6}, "pods are placed by requests.", id="Pack"),
        pytest.param(
            {"mode": Mode.OBSERVE}, "pods are judged by requests, spreading and the history of workloads.", id="Observe"
        ),
    ],
)
def test_what_counts_instead_of_metrics_is_told(overview, node, changes, want):
    seen = overview(node("a"), load_set_aside="only 1 of 3 nodes have fresh metrics", **changes)
    assert metrics_available(seen).message.endswith(f"Until readings come back {want}")


def test_before_the_first_answer_nothing_is_claimed(overview, node):
    seen = overview(node("a"), readings=None)
    assert [(c.status, c.reason) for c in conditions(seen)] == [("Unknown", "NotAskedYet")] * 2


@pytest.mark.parametrize(
    ("path", "meaning"),
    [
        ("spec.somethingNew[mode]", "it has no effect"),
        ("spec.metricsSource.prometheus.auth", "this Prometheus is not asked"),
        ("spec.metricsSource.prometheus.tls", "this Prometheus is not asked"),
        ("spec.somethingNew", "it has no effect"),
    ],
)
def test_what_is_not_enforced_yet_is_named_with_its_meaning_while_ready_stays_true(overview, node, path, meaning):
    seen = overview(node("a"), not_yet_enforced=(path,))
    for condition in (ready(seen), conditions(seen)[-1]):
        assert condition.status == "True"
        assert "NotYetEnforced" in {condition.type, condition.reason}
        assert condition.message.startswith(f"{path} is accepted but not enforced yet: ")
        assert meaning in condition.message


def test_what_is_not_enforced_yet_stays_named_when_something_else_is_wrong(overview, node, readings):
    path = "spec.metricsSource.prometheus.tls"
    seen = overview(node("a"), not_yet_enforced=(path,), readings=readings(failures={"": GONE}))
    assert [(c.type, c.status) for c in conditions(seen)] == [
        ("Ready", "False"),
        ("MetricsAvailable", "False"),
        ("NotYetEnforced", "True"),
    ]


def test_a_source_that_may_not_be_asked_yet_has_no_metrics_but_is_no_fault(overview, node):
    seen = overview(node("a"), source=None, readings=None, not_yet_enforced=("spec.metricsSource.prometheus.auth",))
    assert ready(seen).status == "True"
    assert (metrics_available(seen).status, metrics_available(seen).reason) == ("False", "NotYetEnforced")


def test_a_source_that_is_set_aside_is_invalid(overview, node):
    problem = Problem("spec.metricsSource", "two sources are given", "give one")
    seen = overview(node("a"), source=None, readings=None, problems=(problem,))
    assert (ready(seen).status, ready(seen).reason) == ("False", "Invalid")
    assert ready(seen).message.startswith("spec.metricsSource: two sources are given: give one.")
    assert (metrics_available(seen).status, metrics_available(seen).reason) == ("False", "Invalid")


def test_an_unreachable_source_is_named_in_both(overview, node, readings):
    seen = overview(node("a"), readings=readings(failures={"": GONE}))
    for condition in conditions(seen):
        assert (condition.status, condition.reason) == ("False", "SourceUnreachable")
        assert condition.message.startswith(f"{GONE}. Until it answers,")


def test_one_failed_query_is_set_aside_alone(overview, node, readings):
    seen = overview(node("a"), readings=readings(failures={"networkReceive": "no series for device eth7"}))
    assert (ready(seen).status, ready(seen).reason) == ("False", "QueryFailed")
    assert ready(seen).message == "networkReceive: no series for device eth7. The other metrics count."
    assert metrics_available(seen).status == "True"


def test_queries_that_fail_alike_are_told_together(overview, node, readings):
    failures = {"networkReceive": "no series", "memory": "no series"}
    seen = overview(node("a"), readings=readings(failures=failures))
    assert ready(seen).message.startswith("memory and networkReceive: no series. Until readings come back")
    assert (metrics_available(seen).status, metrics_available(seen).reason) == ("False", "QueryFailed")


def test_too_few_nodes_set_the_metrics_aside_with_the_numbers_and_the_mend(overview, node, readings):
    oddities = Oddities(counts={"Unmapped": 48}, examples={"Unmapped": 'up{instance="10.0.0.1:9100"}'})
    seen = overview(
        node("a"),
        node("b", state=ReadingState.MISSING),
        load_set_aside="only 2 of 50 nodes have fresh data",
        readings=readings(oddities=oddities),
        metrics=(Metric("memory", 1, limit=0.9),),
    )
    found = metrics_available(seen)
    assert (ready(seen).status, found.status, found.reason) == ("True", "False", "TooFewNodes")
    assert found.message == (
        "only 2 of 50 nodes have fresh data. Until readings come back pods are placed by requests, spreading and the history of workloads."
        ' Limits are suspended. 48 series belong to no known node, e.g. up{instance="10.0.0.1:9100"}: give them a'
        " label that holds the node's name, and set spec.metricsSource.prometheus.nodeLabel to it."
    )


def test_no_fresh_node_at_all_is_never_called_available(overview, node):
    seen = overview(node("a", state=ReadingState.STALE), node("b", state=ReadingState.MISSING))
    found = metrics_available(seen)
    assert (found.status, found.reason) == ("False", "TooFewNodes")
    assert found.message.startswith("None of 2 nodes has fresh readings.")


@pytest.mark.parametrize(
    ("on_missing", "want"),
    [
        (OnMissing.REQUESTS, "1 of 2 nodes have fresh readings; the others are judged by requests."),
        (
            OnMissing.EXCLUDE,
            "1 of 2 nodes have fresh readings; the others take no pods (spec.onMissing: Exclude).",
        ),
    ],
)
def test_some_fresh_nodes_are_enough_and_the_others_fate_is_told(overview, node, on_missing, want):
    seen = overview(node("a"), node("b", state=ReadingState.MISSING), on_missing=on_missing)
    found = metrics_available(seen)
    assert (found.status, found.reason, found.message) == ("True", "SomeNodesFresh", want)


def test_a_policy_that_selects_no_node_says_so(overview):
    found = metrics_available(overview(source=MetricsServerSource()))
    assert (found.status, found.reason) == ("Unknown", "NoNodes")
    assert "spec.nodeSelector" in found.message


def test_an_object_that_does_not_parse_names_field_problem_and_mend(now_s):
    error = PolicyError(field="spec.timeRange", problem="'soon' is no duration", mend="write e.g. 5m")
    status = invalid_status(generation=2, error=error, previous=None, now_s=now_s)
    assert status["observedGeneration"] == 2
    condition = status["conditions"][0]
    assert (condition["type"], condition["status"], condition["reason"]) == ("Ready", "False", "Invalid")
    assert condition["message"].startswith("spec.timeRange: 'soon' is no duration: write e.g. 5m. Until then ")


def test_a_metric_that_few_nodes_have_is_named_while_the_others_count(overview, node):
    seen = overview(node("a"), metrics_aside={"memory": "only 1 of 3 nodes have fresh metrics"})
    found = metrics_available(seen)
    assert (found.status, found.reason) == ("True", "SomeMetricsSetAside")
    assert found.message == (
        "memory: only 1 of 3 nodes have fresh metrics. Until more have, the other metrics alone count."
    )
