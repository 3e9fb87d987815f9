from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.policy.compiled import Policy
from plimsoll.reporting.events import (
    NOTE_MAX_BYTES,
    above_limits,
    event_name,
    failed_scheduling,
    metrics_event,
    of_pod,
    scheduled,
    series_json,
    to_json,
)
from plimsoll.reporting.status import policy_status
from tests.builders import make_pod

POLICY = Policy(name="network-first", uid="uid-policy")


def test_a_placed_pod_is_told_in_the_words_that_tests_and_people_look_for(now_s):
    event = scheduled(make_pod("web-1", "shop").info(), node="node-7", controller="plimsoll")
    body = to_json(event, now_s=now_s, instance="plimsoll-host")
    assert body == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": body["metadata"]["name"], "namespace": "shop"},
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "type": "Normal",
        "reason": "Scheduled",
        "action": "Binding",
        "note": "Successfully assigned shop/web-1 to node-7",
        "regarding": {"apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": "web-1", "uid": "uid-shop-web-1"},
        "reportingController": "plimsoll",
        "reportingInstance": "plimsoll-host",
    }


def test_a_pod_that_does_not_fit_is_warned_about():
    event = failed_scheduling(make_pod("web-1").info(), message="0/1 nodes are available: x.", controller="plimsoll")
    assert (event.type, event.reason, event.action) == ("Warning", "FailedScheduling", "Scheduling")
    assert event.note == "0/1 nodes are available: x."


def test_events_about_a_policy_live_in_the_default_namespace(now_s):
    body = to_json(above_limits(POLICY, controller="plimsoll"), now_s=now_s, instance="i")
    assert (body["type"], body["reason"], body["metadata"]["namespace"]) == ("Warning", "AboveLimits", "default")
    assert body["regarding"] == {
        "apiVersion": "plimsoll.dev/v1alpha1",
        "kind": "SchedulingPolicy",
        "name": "network-first",
        "uid": "uid-policy",
    }


def test_losing_the_metrics_is_told_once_and_so_is_their_return(overview, node, readings, now_s):
    well = overview(node("n"))
    broken = overview(node("n"), readings=readings(failures={"": "http://prometheus:9090 refuses connections"}))
    told = []
    status = None
    for seen in (well, broken, broken, well, well):
        event = metrics_event(seen, previous=status, controller="plimsoll")
        told.append(event and (event.type, event.reason))
        status = policy_status(seen, previous=status, now_s=now_s)
    assert told == [None, ("Warning", "MetricsSetAside"), None, ("Normal", "MetricsInForce"), None]


def test_losing_the_metrics_says_why(overview, node, readings):
    failed = readings(failures={"": "http://prometheus:9090 refuses connections"})
    event = metrics_event(overview(node("n"), readings=failed), previous=None, controller="plimsoll")
    assert event is not None
    assert event.note.startswith("http://prometheus:9090 refuses connections. Until it answers, ")


def test_a_burst_of_pods_above_the_limits_is_one_series():
    assert above_limits(POLICY, controller="plimsoll") == above_limits(POLICY, controller="plimsoll")


def test_the_name_is_that_of_client_go():
    regarding = of_pod(make_pod("web-1").info())
    assert event_name(regarding, now_s=1.5) == f"web-1.{1_500_000_000:x}"


@pytest.mark.parametrize("name", ["a" * 250, "UPPER", "under_score"])
def test_a_name_that_no_event_may_have_becomes_a_uuid(name, now_s):
    regarding = of_pod(make_pod(name).info())
    found = event_name(regarding, now_s=now_s)
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", found)
    assert found != event_name(regarding, now_s=now_s + 1)


def test_a_repetition_is_counted_with_its_time(now_s):
    assert series_json(count=2, last_observed_s=now_s) == {
        "series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:00.000000Z"}
    }


@given(message=st.text(max_size=3000))
def test_a_note_is_never_longer_than_the_api_server_takes_nor_cut_inside_a_character(message):
    note = failed_scheduling(make_pod("p").info(), message=message, controller="plimsoll").note
    assert len(note.encode()) <= NOTE_MAX_BYTES
    assert note == message or (note.endswith(" ...") and message.startswith(note.removesuffix(" ...")))


def test_a_long_note_of_wide_characters_keeps_as_much_as_fits():
    note = failed_scheduling(make_pod("p").info(), message="ä" * 600, controller="plimsoll").note
    assert note == "ä" * 510 + " ..."


def test_a_long_instance_name_is_cut_too(now_s):
    event = scheduled(make_pod("p").info(), node="n", controller="plimsoll")
    assert len(to_json(event, now_s=now_s, instance="h" * 300)["reportingInstance"]) == 128
