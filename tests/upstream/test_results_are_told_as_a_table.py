from __future__ import annotations

from pathlib import Path

import pytest

from tests.upstream.results import Result, lost, read, table

REPORT = """<testsuites><testsuite>
<testcase name="[It] [sig-scheduling] SchedulerPredicates [Serial] validates limits" status="passed" time="7.4"/>
<testcase name="[It] [sig-scheduling] SchedulerPriorities [Serial] prefers" status="failed" time="61.2">
<failure message="expected node-1&#10;got node-2" type="failed">long</failure></testcase>
<testcase name="[It] [sig-apps] Deployment works" status="skipped" time="0"><skipped message="skipped"/></testcase>
<testcase name="[SynchronizedBeforeSuite]" status="passed" time="0.1"/>
</testsuite></testsuites>"""
LIMITS, PREFERS = "SchedulerPredicates [Serial] validates limits", "SchedulerPriorities [Serial] prefers"
PASSED, FAILED = Result(passed=True, took_s=7.4), Result(passed=False, took_s=61.2, problem="expected node-1")


def test_specs_that_ran_are_read_from_the_report(tmp_path: Path) -> None:
    (tmp_path / "junit_01.xml").write_text(REPORT)
    assert read(tmp_path / "junit_01.xml") == {LIMITS: PASSED, PREFERS: FAILED}


def test_a_line_tells_one_spec_in_every_column() -> None:
    lines = list(table({"kube": {LIMITS: PASSED, PREFERS: FAILED}, "plimsoll": {LIMITS: PASSED}}))
    assert lines[1].split()[-6:] == ["passed", "7", "s", "passed", "7", "s"]
    assert lines[2].split()[-4:] == ["FAILED", "61", "s", "-"]
    assert lines[3].split() == ["passed", "1", "of", "2", "1", "of", "1"]


@pytest.mark.parametrize(
    ("ours", "want"),
    [
        pytest.param({LIMITS: PASSED}, [], id="passes, too"),
        pytest.param({LIMITS: FAILED}, [LIMITS], id="fails"),
        pytest.param({}, [LIMITS], id="did not run"),
    ],
)
def test_what_passes_with_kube_scheduler_must_pass_with_plimsoll(ours: dict[str, Result], want: list[str]) -> None:
    assert lost({"kube": {LIMITS: PASSED, PREFERS: FAILED}, "plimsoll": ours}) == want


def test_a_column_alone_is_compared_with_nothing() -> None:
    assert lost({"kube": {LIMITS: PASSED}}) == []
