"""What the observer says, and when."""

from __future__ import annotations

from benchmarks.throughput.stamps import Watched


def _watched(*, expected: int = 2) -> Watched:
    return Watched(warm=["ns/warm"], measured=["ns/a", "ns/b", "ns/c"], expected=expected)


def test_words_are_said_as_pods_are_bound():
    watched = _watched()
    seen = ["ns/other", "ns/warm", "ns/a", "ns/a", "other/b", "ns/b", "ns/c"]
    assert [watched.bound(pod, float(i)) for i, pod in enumerate(seen)] == [
        "",
        "warm",
        "first",
        "first",
        "",
        "bound",
        "",
    ]
    assert watched.stamps.bound_s == {"ns/a": 2.0, "ns/b": 5.0, "ns/c": 6.0}


def test_the_only_pod_is_the_last_one():
    assert _watched(expected=1).bound("ns/a", 0.0) == "bound"


def test_the_first_event_of_each_measured_pod_counts():
    watched = _watched()
    seen = ["ns/a.17", "ns/a.18", "ns/warm.19", "ns/b.1a"]
    assert [watched.told(event, float(i)) for i, event in enumerate(seen)] == ["", "", "", "settled"]
    assert watched.stamps.told_s == {"ns/a": 0.0, "ns/b": 3.0}


def test_events_that_do_not_come_are_not_waited_for_without_end():
    watched = _watched()
    watched.bound("ns/a", 1.0)
    assert watched.quiet(since_s=50.0) == ""
    watched.bound("ns/b", 2.0)
    watched.told("ns/a.17", 40.0)
    assert watched.quiet(since_s=39.0) == ""
    assert watched.quiet(since_s=41.0) == "settled"
