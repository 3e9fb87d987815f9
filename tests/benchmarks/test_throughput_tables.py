"""What the tables say of runs that hung, and of those whose work comes before the first bind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.throughput.contenders import KUBE, KUBE_DEFAULT, PLIMSOLL
from benchmarks.throughput.figures import FIGURES
from benchmarks.throughput.ratios import of_contender, ratio
from benchmarks.throughput.report import conditions, of_all, of_case
from benchmarks.throughput.result import RunResult
from plimsoll.sim.report.grid import Grid

_RATE, _FROM_START = "pods_per_s_10_90", "pods_per_s_from_start"
_LATE = "not all pods were bound within 300 s"


def _run(contender: str, *, pair: int = 0, workload: str = "churn", rate: float = 400.0, **fields: Any) -> RunResult:
    parameters = {"nodes": 5000, "pods": 2000, "workload": workload}
    figures = {"bound": 2000.0, _RATE: rate, _FROM_START: rate / 4, "wait_p99_ms": 7.0, "cpu_ms_per_pod": 1.0}
    run = RunResult(
        case=workload, contender=contender, pair=pair, fingerprint="a", parameters=parameters, figures=figures
    )
    return replace(run, expected=2000, **fields)


def _hung(contender: str, *, pair: int = 0, bound: float = 1200.0) -> RunResult:
    run = _run(contender, pair=pair, rate=800.0, unfinished=_LATE)
    return run.with_figures({"bound": bound})


def _cells(grid: Grid, row: str) -> list[str]:
    return next([cell.text for cell in cells[1:]] for cells in grid.rows if cells[0].text == row)


def test_a_run_that_hung_has_neither_figure_nor_ratio():
    runs = [_hung(PLIMSOLL), _run(KUBE)]
    for figure in (_RATE, "wait_p99_ms", "cpu_ms_per_pod"):
        assert of_contender(runs, PLIMSOLL, figure) is None
        assert ratio(runs, PLIMSOLL, KUBE, figure) is None
        assert ratio(runs, KUBE, PLIMSOLL, figure) is None


def test_the_line_of_a_case_that_hung_says_so_in_place_of_its_throughput():
    grid = of_all([[_hung(PLIMSOLL), _run(KUBE)]])
    assert _cells(grid, "churn") == ["did not finish: 1,200 of 2,000 bound", "400", *["-"] * 6]
    assert f"churn: plimsoll, pair 1: {_LATE}; 1,200 of 2,000 bound" in grid.notes


def test_some_that_hung_are_not_hidden_by_those_that_did_not():
    runs = [_run(PLIMSOLL), _run(KUBE, rate=200), _hung(PLIMSOLL, pair=1), _run(KUBE, pair=1, rate=100)]
    runs += [_hung(PLIMSOLL, pair=2, bound=1.0), _run(KUBE, pair=2, rate=300)]
    hung = "400; 2 of 3 did not finish: 1 to 1,200 of 2,000 bound"
    assert _cells(of_all([runs]), "churn")[:3] == [hung, "200 (100 to 300)", "2.00"]
    assert _cells(of_case(runs), "pods bound per second, from 10 % to 90 %")[0] == hung


def test_how_many_were_bound_is_told_of_runs_that_hung_as_well():
    assert _cells(of_case([_hung(PLIMSOLL), _run(KUBE)]), "pods bound")[:2] == ["1,200", "2,000"]


def test_where_all_hung_the_table_of_the_case_says_so():
    grid = of_case([_hung(PLIMSOLL), _hung(KUBE)])
    assert _cells(grid, "pods bound per second, from 10 % to 90 %")[:2] == ["did not finish: 1,200 of 2,000 bound"] * 2


def test_notes_that_several_cases_share_stand_once():
    runs = [[_run(name, workload=workload) for name in (PLIMSOLL, KUBE)] for workload in ("churn", "basic")]
    assert of_all(runs).notes == ("churn, basic: One run each",)


def test_preemption_counts_from_the_start():
    runs = [_run(PLIMSOLL, workload="preemption"), _run(KUBE, workload="preemption", rate=200)]
    grid = of_all([runs])
    assert _cells(grid, "preemption")[:3] == ["100", "50", "2.00"]
    assert any("from the start" in note for note in grid.notes)
    assert not any("from the start" in note for note in of_all([[_run(PLIMSOLL), _run(KUBE)]]).notes)


def test_the_default_limits_are_compared_where_nothing_else_is():
    assert _cells(of_all([[_run(PLIMSOLL), _run(KUBE_DEFAULT, rate=50)]]), "churn")[:3] == ["400", "50", "8.00"]


def test_what_a_decision_takes_is_told_with_its_clock():
    labels = [figure.label for figure in FIGURES if figure.key.startswith("decision_") and figure.key.endswith("ms")]
    assert len(labels) == 3
    assert all("CPU" in label and "wall" in label for label in labels)


def test_the_conditions_are_those_of_the_runs():
    commands = {"scheduler": "plimsoll run --as-it-was", "kube-apiserver": "kube-apiserver --flag=1"}
    runs = [
        _run(PLIMSOLL, commands=commands),
        _run(KUBE, commands={"scheduler": "kube"}, configuration={"qps": 7}, versions={"kube-scheduler": "v1"}),
        _run(KUBE, pair=1, commands={"scheduler": "kube"}, configuration={"qps": 8}),
        _run(KUBE_DEFAULT),
    ]
    grid = conditions(runs)
    assert _cells(grid, "Plimsoll, command") == ["`plimsoll run --as-it-was`"]
    assert _cells(grid, "kube-scheduler, command") == ['`kube`, `{"qps":7}`; `kube`, `{"qps":8}`']
    assert _cells(grid, "kube-scheduler") == ["v1"]
    assert _cells(grid, "kube-apiserver, command") == ["`kube-apiserver --flag=1`"]
    assert _cells(grid, "kube-scheduler, default limits, command") == ["not recorded"]


def test_runs_by_another_harness_are_another_state():
    notes = of_case([_run(PLIMSOLL, harness="a"), _run(KUBE, harness="b")]).notes
    assert notes[0] == "These runs are of 2 states of the code"
