"""That the core is driven as the operator drives it; nothing about times."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.decisions.run import run
from benchmarks.decisions.stopwatch import Step
from benchmarks.throughput.workloads import WORKLOADS

_ROOT = Path(__file__).parent.parent.parent
_NODES, _PODS = 12, 24
_DECISIONS = (Step.FIRST, Step.DECISION, Step.REFUSAL, Step.PREEMPTION)


def command(*arguments, check=True):
    line = [sys.executable, "-m", "benchmarks.decisions", "--nodes", "4,8", "--pods", "6", *arguments]
    return subprocess.run(line, cwd=_ROOT, check=check, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS.keys())
def test_all_pods_that_can_have_a_node_get_one(workload):
    done = run(workload, nodes=_NODES, pods=_PODS)
    counts = {step: cost.count for step, cost in done.costs.items()}
    assert done.bound == _PODS - workload.left(_PODS)
    assert counts[Step.POD_CONFIRMED] >= done.bound
    assert sum(counts.get(step, 0) for step in _DECISIONS) >= _PODS
    assert counts[Step.HEARTBEAT]
    assert counts[Step.NODE_CHANGED]


@pytest.mark.parametrize(
    ("workload", "steps"),
    [
        ("unschedulable", {Step.REFUSAL, Step.POD_PENDING_AGAIN}),
        ("preemption", {Step.PREEMPTION, Step.POD_PENDING_AGAIN, Step.POD_GONE}),
        ("churn", {Step.NODE_ADDED, Step.POD_GONE, Step.OTHER_OBJECT}),
        ("policy", {Step.READINGS}),
    ],
)
def test_what_a_workload_is_about_happens(workload, steps):
    done = run(WORKLOADS[workload], nodes=_NODES, pods=_PODS)
    assert steps <= done.costs.keys()


@pytest.mark.parametrize("workload", [name for name in WORKLOADS if name != "churn"])
def test_equal_code_places_equally_and_other_clusters_are_told_apart(workload):
    once, again = (run(WORKLOADS[workload], nodes=_NODES, pods=_PODS).placement for _ in range(2))
    assert once == again
    assert once != run(WORKLOADS[workload], nodes=_NODES + 1, pods=_PODS).placement


def test_a_workload_that_cannot_be_placed_is_no_result(monkeypatch):
    monkeypatch.setattr("benchmarks.decisions.flow._PATIENCE_S", 3.0)
    with pytest.raises(RuntimeError, match="basic, 1 nodes: 110 of 120 pods got a node"):
        run(WORKLOADS["basic"], nodes=1, pods=120)


def test_the_garbage_collector_is_left_as_it_was():
    before = gc.get_threshold(), gc.get_freeze_count()
    run(WORKLOADS["basic"], nodes=3, pods=3)
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


def test_it_answers_a_line_of_json_for_each_size():
    lines = [json.loads(line) for line in command("--json", "--workloads", "basic,services").stdout.splitlines()]
    assert [(line["workload"], line["nodes"]) for line in lines] == [
        ("basic", 4), ("basic", 8), ("services", 4), ("services", 8),
    ]  # fmt: skip
    for line in lines:
        cost = line["costs"][Step.DECISION]
        assert 0 < cost["p50_us"] <= cost["p99_us"] <= cost["max_us"]


def test_it_draws_a_line_for_each_workload(tmp_path):
    path = tmp_path / "cost.svg"
    command("--workloads", "basic,preemption", "--plot", str(path))
    drawn = path.read_text()
    assert all(f">{name}<" in drawn for name in ("basic", "preemption", "preemption, with dry runs"))


def test_it_draws_the_same_from_what_was_written_down(tmp_path):
    at_once, later, written = tmp_path / "at-once.svg", tmp_path / "later.svg", tmp_path / "runs.jsonl"
    written.write_text(command("--json", "--plot", str(at_once)).stdout)
    assert command("--read", str(written), "--plot", str(later)).stdout == ""
    assert later.read_text() == at_once.read_text()


def test_it_profiles_the_decisions_alone():
    profile = command("--profile", "basic").stdout
    assert "decide.py" in profile
    assert "orjson" not in profile


def test_a_workload_that_is_not_there_is_named():
    answer = command("--workloads", "basic,no-such", check=False)
    assert answer.returncode
    assert "no such workload: no-such; there are basic, services" in answer.stderr
