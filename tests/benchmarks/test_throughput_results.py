"""Runs are kept, found again, compared pair by pair and told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.throughput.contenders import KUBE, PLIMSOLL
from benchmarks.throughput.document import fill
from benchmarks.throughput.ratios import of_contender, ratio
from benchmarks.throughput.report import of_all, of_case
from benchmarks.throughput.result import RunResult
from benchmarks.throughput.results_file import ResultsFile
from benchmarks.throughput.run import log_name
from benchmarks.throughput.table import cases
from plimsoll.sim.report.grid import Grid

_RATE = "pods_per_s_10_90"


def _run(contender: str = PLIMSOLL, pair: int = 0, rate: float | None = 100.0, **fields: Any) -> RunResult:
    parameters = {"name": "basic", "nodes": 10, "pods": 20}
    run = RunResult(case="basic", contender=contender, pair=pair, fingerprint="a", parameters=parameters)
    figures = {"bound": 20.0} if rate is None else {"bound": 20.0, _RATE: rate}
    return replace(run, figures=figures, **fields)


def test_a_resumed_file_has_what_was_there(tmp_path: Path):
    path = tmp_path / "results.json"
    ResultsFile(path, resume=False).add(_run(requests={"POST pods 201": 3}, binds=[20]))
    again = ResultsFile(path, resume=True)
    assert again.runs == [_run(requests={"POST pods 201": 3}, binds=[20])]
    assert again.find(_run(rate=None)) == again.runs[0]


def test_a_run_of_another_commit_of_the_same_code_stands_for_this_one():
    file = ResultsFile(None, resume=False)
    file.add(_run(versions={"commit": "a", "cpus": "2"}))
    assert file.find(_run(versions={"commit": "b", "cpus": "2"})) == file.runs[0]
    assert file.added == 1


def test_runs_of_two_machines_are_told():
    runs = [_run(versions={"cpus": "2"}), _run(KUBE, versions={"cpus": "96"})]
    (note,) = [note for note in of_case(runs).notes if "machines" in note]
    assert note.startswith("These runs are of 2 machines")
    assert not [note for note in of_case([_run(), _run(KUBE)]).notes if "machines" in note]


def test_every_case_has_a_log_of_its_own_beside_the_others():
    names = [log_name(replace(_run(), case=case.name)) for case in cases()]
    assert len(set(names)) == len(names)
    assert [Path(name).name for name in names] == names


def test_a_file_that_is_not_resumed_is_begun_anew(tmp_path: Path):
    path = tmp_path / "results.json"
    ResultsFile(path, resume=False).add(_run())
    anew = ResultsFile(path, resume=False)
    anew.add(_run(KUBE))
    assert [run.contender for run in ResultsFile(path, resume=True).runs] == [KUBE]


@pytest.mark.parametrize(
    "other",
    [
        {"contender": KUBE},
        {"pair": 1},
        {"fingerprint": "b"},
        {"harness": "b"},
        {"flags": "b"},
        {"versions": {"cpus": "96, another"}},
        {"case": "arriving"},
        {"parameters": {"name": "basic", "nodes": 11, "pods": 20}},
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_run_stands_for_no_other(tmp_path: Path, other: dict[str, Any]):
    file = ResultsFile(tmp_path / "results.json", resume=False)
    file.add(_run())
    assert file.find(replace(_run(), **other)) is None


def test_a_run_of_newer_code_takes_the_place_of_the_older(tmp_path: Path):
    file = ResultsFile(tmp_path / "results.json", resume=False)
    file.add(_run())
    file.add(_run(KUBE))
    file.add(_run(fingerprint="b"))
    assert [(run.contender, run.fingerprint) for run in file.runs] == [(KUBE, "a"), (PLIMSOLL, "b")]


def test_ratios_are_taken_pair_by_pair():
    runs = [_run(PLIMSOLL, 0, 200), _run(KUBE, 0, 100), _run(PLIMSOLL, 1, 30), _run(KUBE, 1, 10)]
    found = ratio([*runs, _run(PLIMSOLL, 2, 1000)], PLIMSOLL, KUBE, _RATE)
    assert found == (2.5, 2.0, 3.0)
    assert of_contender(runs, PLIMSOLL, _RATE) == (115.0, 30.0, 200.0)


def test_without_a_pair_there_is_no_ratio():
    assert ratio([_run(PLIMSOLL, 0), _run(KUBE, 1)], PLIMSOLL, KUBE, _RATE) is None
    assert ratio([_run(PLIMSOLL, 0), _run(KUBE, 0, None)], PLIMSOLL, KUBE, _RATE) is None


def _texts(grid: Grid, row: str) -> list[str]:
    return next([cell.text for cell in cells[1:]] for cells in grid.rows if cells[0].text == row)


def test_the_table_of_a_case_has_medians_and_ratios():
    runs = [_run(PLIMSOLL, 0, 200), _run(KUBE, 0, 100), _run(PLIMSOLL, 1, 400), _run(KUBE, 1, 100)]
    assert _texts(of_case(runs), "pods bound per second, from 10 % to 90 %") == [
        "300 (200 to 400)",
        "100",
        "3.00 (2.00 to 4.00)",
    ]
    assert _texts(of_all([runs]), "basic")[:3] == ["300 (200 to 400)", "100", "3.00 (2.00 to 4.00)"]


def test_an_unfinished_run_is_told():
    runs = [_run(), _run(KUBE, unfinished="not all pods were bound within 9 s")]
    assert of_case(runs).notes[-1] == "kube-scheduler, pair 1: not all pods were bound within 9 s; 20 of 20 bound"


def test_a_case_that_only_one_has_played_is_not_compared():
    assert of_all([[_run()]]).rows == ()


def test_a_document_gets_the_tables_that_it_has_a_place_for(tmp_path: Path):
    document = tmp_path / "performance.md"
    document.write_text("# Performance\n<!-- throughput-basic -->\nold\n<!-- /throughput-basic -->\nend\n")
    assert fill(document, [[_run(), _run(KUBE)]]) == ["throughput-basic"]
    text = document.read_text()
    assert "| pods bound per second, from 10 % to 90 % | 100 | 100 | 1.00 |" in text
    assert "old" not in text
    assert text.endswith("end\n")


def test_no_two_cases_of_the_table_have_the_same_name():
    names = [case.name for case in cases()]
    assert sorted(names) == sorted(set(names))


def test_every_case_of_the_table_can_be_named_on_the_command_line():
    assert not [case.name for case in cases() if "," in case.name]
