from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.load.preflight import FindingKind
from plimsoll.load.preflight_scrapes import scrape_interval_s
from plimsoll.policy.compiled import CPU, NETWORK_RECEIVE
from tests.load.answers import policy_of
from tests.load.trials import carrying, many, only

POLICY = policy_of(NETWORK_RECEIVE, time_range_s=120.0)


@pytest.mark.parametrize(
    ("time_range_s", "interval_s", "want"),
    [
        pytest.param(
            120.0,
            60.0,
            "node-exporter is scraped every 1m, so that spec.timeRange 2m holds 2 samples: set spec.timeRange to 4m or"
            " more, or scrape every 30s or more often.",
            id="two samples",
        ),
        pytest.param(30.0, 30.2, "every 30s, so that spec.timeRange 30s holds 1 sample: set", id="one sample"),
        pytest.param(300.0, 90.0, "every 1m30s, so that spec.timeRange 5m holds 3 samples", id="no usual interval"),
        pytest.param(30.0, 60.0, "spec.timeRange 30s holds 0 samples: set spec.timeRange to 4m", id="none at all"),
    ],
)
def test_scrapes_that_are_too_rare_for_the_window_are_told(time_range_s: float, interval_s: float, want: str) -> None:
    answering = carrying(1e6, "node-1").scraped_every(interval_s, "node-1")
    finding = only(answering.tried(policy_of(NETWORK_RECEIVE, time_range_s=time_range_s), many(1)))
    assert (finding.kind, finding.metric) == (FindingKind.TOO_FEW_SAMPLES, "")
    assert want in finding.text


@pytest.mark.parametrize("interval_s", [15.0, 30.0, 30.9, math.nan])
def test_a_quarter_of_the_window_is_enough(interval_s: float) -> None:
    answering = carrying(1e6, "node-1").scraped_every(interval_s, "node-1")
    assert answering.tried(POLICY, many(1)).findings == ()


def test_where_nothing_is_known_of_scrapes_nothing_is_claimed() -> None:
    assert carrying(1e6, "node-1").tried(POLICY, many(1)).findings == ()


def test_a_few_targets_that_were_down_do_not_count() -> None:
    answering = carrying(1e6, "node-1", "node-2", "node-3")
    answering.scraped_every(15.0, "node-1", "node-2").scraped_every(300.0, "node-3")
    assert answering.tried(POLICY, many(3)).findings == ()


def test_what_prometheus_was_asked_that_failed_fails_no_metric() -> None:
    answering = carrying(1e6, "node-1", idle=0.5).failing("interval", "devices")
    assert answering.tried(policy_of(NETWORK_RECEIVE, CPU), many(1)).findings == ()


@given(
    usual=st.sampled_from([5, 10, 15, 30, 60, 120]),
    trembling=st.lists(st.floats(0.95, 1.05), min_size=1, max_size=9),
    others=st.lists(st.sampled_from([math.nan, math.inf, 1e305, -3.0, 0.0]), max_size=9),
)
def test_an_interval_that_trembles_reads_the_same(usual: int, trembling: list[float], others: list[float]) -> None:
    assert scrape_interval_s([*others, *(usual * factor for factor in trembling)]) == usual
