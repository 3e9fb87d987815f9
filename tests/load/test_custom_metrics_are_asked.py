from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.load.custom_query import averages, filled
from plimsoll.load.queries import DEFAULT_DEVICES, queries
from plimsoll.policy.compiled import Metric
from tests.load.answers import policy_of

BUSY = Metric("disk-busy", 1, query="max by (node) (rate(node_disk_io_time_seconds_total[$timeRange]))")


def written(query: str, *, time_range_s: float = 90.0, devices: str = "eth0") -> str:
    return filled(query, time_range_s=time_range_s, devices=devices)


@pytest.mark.parametrize(
    ("query", "want"),
    [
        pytest.param("rate(a[$timeRange])", "rate(a[1m30s])", id="the time range is a duration"),
        pytest.param("rate(a[${timeRange}])", "rate(a[1m30s])", id="with braces"),
        pytest.param("a{device=~$deviceName}", 'a{device=~"eth0"}', id="the device is a quoted string"),
        pytest.param("a[$timeRange] / b[$timeRange]", "a[1m30s] / b[1m30s]", id="each time"),
        pytest.param("a[$timeRangeMs]", "a[$timeRangeMs]", id="not in a longer word"),
        pytest.param("a[$timeRange5]", "a[$timeRange5]", id="nor before a digit"),
        pytest.param("a[${timeRange]", "a[${timeRange]", id="nor in half a pair of braces"),
        pytest.param('a{b=~"^x$", c="$other"}', 'a{b=~"^x$", c="$other"}', id="other dollar signs stay"),
        pytest.param("timeRange", "timeRange", id="a word without dollar sign stays"),
    ],
)
def test_two_names_are_filled_in_and_nothing_else(query: str, want: str) -> None:
    assert written(query) == want


@pytest.mark.parametrize(
    ("query", "yes"),
    [
        pytest.param("rate(a[$timeRange])", True, id="over the window"),
        pytest.param("rate(a[${timeRange}])", True, id="with braces"),
        pytest.param("a{device=~$deviceName}", False, id="an instant value"),
        pytest.param("$timeRanges", False, id="a longer word"),
    ],
)
def test_a_query_is_a_mean_over_the_window_where_it_names_it(query: str, *, yes: bool) -> None:
    assert averages(query) is yes


@given(st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"])))
def test_a_device_name_is_one_string_whatever_is_in_it(device: str) -> None:
    before, after = "a{device=~", '} or b{c="d"}'
    query = written(f"{before}$deviceName{after}", devices=device)
    literal = query.removeprefix(before).removesuffix(after)
    assert json.loads(literal) == device


@given(st.text())
def test_a_device_name_is_not_searched_for_names_again(device: str) -> None:
    assert written("$deviceName", devices=f"{device}$timeRange").endswith('$timeRange"')


def test_a_custom_metric_asks_its_query_and_what_its_samples_age_is_told_by() -> None:
    asked = {q.id: q.text for q in queries(policy_of(metrics=(BUSY,), time_range_s=60.0))}
    assert set(asked) == {"lastSample", "clock.short", "clock.long", "custom.disk-busy", "uname"}
    assert asked["custom.disk-busy"] == "max by (node) (rate(node_disk_io_time_seconds_total[1m]))"


def test_of_an_instant_value_it_does_not_matter_how_full_a_window_is() -> None:
    asked = {q.id for q in queries(policy_of(metrics=(Metric("free", 1, query="free"),)))}
    assert asked == {"lastSample", "clock.long", "custom.free", "uname"}


def test_beside_built_in_metrics_it_asks_one_query_more() -> None:
    cpu = Metric("cpu", 1)
    without, together = policy_of(metrics=(cpu,)), policy_of(metrics=(cpu, BUSY))
    assert {q.id for q in queries(together)} - {q.id for q in queries(without)} == {"custom.disk-busy"}


def test_the_devices_are_those_of_the_built_in_metrics() -> None:
    metric = Metric("drops", 1, query="max by (node) (drops{device=~$deviceName})")

    def asked(device: str | None) -> str:
        texts = {q.id: q.text for q in queries(policy_of(metrics=(metric,), device_name=device))}
        found = re.fullmatch(r"max by \(node\) \(drops\{device=~(.*)\}\)", texts["custom.drops"])
        assert found
        name: str = json.loads(found[1])
        return name

    assert asked("bond0") == "bond0"
    assert asked(None) == DEFAULT_DEVICES
