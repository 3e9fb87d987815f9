"""A run by other flags, or by another harness, does not stand for one that is to be made."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.throughput import fingerprint
from benchmarks.throughput.case import Case
from benchmarks.throughput.contenders import BINDS, CONTENDERS, KUBE, PLIMSOLL, Contender
from benchmarks.throughput.fingerprint import TELLING, flags
from benchmarks.throughput.run import planned

_CASE = Case(name="unschedulable", workload="unschedulable", nodes=10, pods=20, pairs=1, contenders=(PLIMSOLL, KUBE))
_PLIMSOLL, _KUBE = CONTENDERS[PLIMSOLL], CONTENDERS[KUBE]


@pytest.mark.parametrize(
    ("contender", "changed"),
    [
        (_PLIMSOLL, replace(_PLIMSOLL, command=(*_PLIMSOLL.command, "--seed=7"))),
        (_KUBE, replace(_KUBE, configuration={**(_KUBE.configuration or {}), "percentageOfNodesToScore": 100})),
    ],
    ids=["a flag", "the configuration"],
)
def test_a_run_by_other_flags_is_made_again(contender: Contender, changed: Contender):
    assert not planned(_CASE, contender, 0).same_run(planned(_CASE, changed, 0))
    assert planned(_CASE, contender, 0).same_run(planned(_CASE, contender, 0))


def test_a_run_by_other_flags_of_the_api_server_is_made_again(monkeypatch: pytest.MonkeyPatch):
    before = flags(_PLIMSOLL)
    monkeypatch.setattr("benchmarks.throughput.fingerprint.API_SERVER_FLAGS", ("--max-requests-inflight=400",))
    assert flags(_PLIMSOLL) != before


@pytest.mark.parametrize(("name", "differs"), [("rates.py", True), ("playing.py", True), ("report.py", False)])
def test_a_harness_that_plays_otherwise_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name, differs):
    for each in ("rates.py", "playing.py", "report.py"):
        (tmp_path / each).write_text("before")
    monkeypatch.setattr(fingerprint, "_HARNESS", tmp_path)
    before = fingerprint.harness()
    (tmp_path / name).write_text("after")
    assert (fingerprint.harness() != before) is differs


def test_what_makes_runs_is_nothing_that_only_tells_of_them():
    code = "import sys, benchmarks.throughput.run; print(*(n for n in sys.modules if n.startswith('benchmarks.')))"
    root = Path(__file__).parent.parent.parent
    said = subprocess.run([sys.executable, "-c", code], cwd=root, check=True, capture_output=True, text=True).stdout
    imported = {f"{module.rpartition('.')[2]}.py" for module in said.split()}
    assert "playing.py" in imported
    assert not imported & TELLING
    assert all((root / "benchmarks" / "throughput" / name).exists() for name in TELLING)


def test_what_is_recorded_of_a_contender_names_no_place_of_this_machine():
    for contender in CONTENDERS.values():
        assert not any(str(Path.home()) in word or sys.executable in word for word in contender.command)
    assert "--connections=64" in CONTENDERS[BINDS].command


def test_pods_that_can_have_no_node_are_not_expected():
    assert planned(_CASE, _PLIMSOLL, 0).expected == 16
