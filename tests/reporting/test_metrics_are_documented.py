from __future__ import annotations

import re
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from plimsoll import __version__
from plimsoll.load.oddities import Oddity
from plimsoll.telemetry import Telemetry, attempts_label, reference

DOCUMENT = Path(__file__).parents[2] / "docs" / "metrics.md"


def exported(telemetry: Telemetry) -> str:
    return generate_latest(telemetry.registry).decode()


def test_the_reference_is_that_of_the_code():
    assert DOCUMENT.read_text() == reference(), "run `python -m plimsoll.telemetry > docs/metrics.md`"


def test_every_exported_metric_is_in_the_reference():
    families = {family.name for family in text_string_to_metric_families(exported(Telemetry()))}
    ours = {name for name in families if not name.startswith("process_")}
    documented = {re.sub("_total$", "", definition.name) for definition in Telemetry().definitions}
    assert ours == documented


def test_names_are_ours_and_units_are_in_them():
    for definition in Telemetry().definitions:
        assert definition.name.startswith("plimsoll_")
        assert definition.name.endswith("_total") == (definition.kind == "counter")
        assert definition.help.endswith(".")


def test_every_kind_of_unusable_series_is_named():
    [definition] = [d for d in Telemetry().definitions if d.name == "plimsoll_load_series_unusable_total"]
    assert [kind.value for kind in Oddity if kind.value not in definition.help] == []


def test_no_label_grows_with_the_cluster():
    labels = {label for definition in Telemetry().definitions for label in definition.labels}
    assert labels.isdisjoint({"pod", "uid", "namespace", "node", "workload", "instance"})


def test_what_kube_scheduler_exports_too_has_its_suffix_labels_and_buckets():
    telemetry = Telemetry()
    telemetry.schedule_attempts.labels(result="scheduled", policy="p").inc()
    telemetry.pod_scheduling_sli_duration.labels(attempts="1").observe(0.015)
    text = exported(telemetry)
    assert 'plimsoll_schedule_attempts_total{policy="p",result="scheduled"} 1.0' in text
    assert 'plimsoll_pod_scheduling_sli_duration_seconds_bucket{attempts="1",le="0.01"} 0.0' in text
    assert 'plimsoll_pod_scheduling_sli_duration_seconds_bucket{attempts="1",le="0.02"} 1.0' in text
    assert "_created" not in text


def test_it_is_known_what_runs():
    assert f'version="{__version__}"' in exported(Telemetry())


def test_the_series_of_a_policy_that_is_gone_go_too():
    telemetry = Telemetry()
    for policy in ("gone", "stays"):
        telemetry.load_source_up.labels(policy=policy).set(1)
        telemetry.schedule_attempts.labels(result="error", policy=policy).inc()
        telemetry.load_query_duration.labels(policy=policy).observe(0.1)
    telemetry.forget_policy("gone")
    telemetry.forget_policy("never-there")
    text = exported(telemetry)
    assert '"gone"' not in text
    assert 'plimsoll_load_source_up{policy="stays"} 1.0' in text


def test_each_instance_counts_for_itself():
    registry = CollectorRegistry()
    one, other = Telemetry(registry), Telemetry()
    one.leader.set(1)
    assert registry.get_sample_value("plimsoll_leader") == 1.0
    assert other.registry.get_sample_value("plimsoll_leader") == 0.0


@pytest.mark.parametrize(("attempts", "want"), [(1, "1"), (14, "14"), (15, "15+"), (4000, "15+")])
def test_the_label_attempts_is_bounded_as_kube_schedulers(attempts, want):
    assert attempts_label(attempts) == want
