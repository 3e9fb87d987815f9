"""The harness plays both schedulers and the bare clients, in small; what comes out is nobody's promise."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parent.parent.parent
_CONTENDERS = ("plimsoll", "kube-scheduler", "binds", "binds+events")
_PODS = 30


def _bench(out: Path, *flags: str) -> str:
    command = [
        *(sys.executable, "-m", "benchmarks.throughput", "--nodes=10", "--pairs=1", "--limit=60", "--resume"),
        *(f"--pods={_PODS}", f"--json={out}", f"--directory={out.parent / 'played'}", *flags),
    ]
    return subprocess.run(command, cwd=_ROOT, check=True, capture_output=True, text=True, timeout=240).stdout


def _runs(out: Path) -> dict[str, dict]:
    return {run["contender"]: run for run in json.loads(out.read_text())["runs"]}


@pytest.mark.cluster
def test_a_burst_is_measured_once_and_told_again(tmp_path: Path):
    out = tmp_path / "burst.json"
    flags = ("--workloads=basic", f"--contenders={','.join(_CONTENDERS)}")
    _bench(out, *flags)
    runs = _runs(out)
    assert set(runs) == set(_CONTENDERS)
    for name, run in runs.items():
        assert not run["unfinished"]
        assert run["figures"]["bound"] == sum(run["binds"]) == _PODS
        assert run["requests"]["POST pods/binding 201"] == _PODS
        assert sum(run["events"]) == (0 if name == "binds" else _PODS)
        assert run["figures"]["events_written"] >= sum(run["events"])
        for figure in ("first_bind_s", "cpu_ms_per_pod", "peak_rss_mib", "apiserver_cpu_ms_per_pod"):
            assert run["figures"][figure] > 0
    for name in _CONTENDERS[:2]:
        assert 0 < runs[name]["figures"]["decision_p50_ms"] <= runs[name]["figures"]["decision_p99_ms"]
    kept = out.read_bytes()
    told = _bench(out, *flags)
    assert told.count("is there, 30 bound") == len(_CONTENDERS)
    assert out.read_bytes() == kept


@pytest.mark.cluster
def test_pods_at_a_steady_rate_wait_for_their_bind(tmp_path: Path):
    out = tmp_path / "steady.json"
    _bench(out, "--mode=steady", "--rate=20", "--warm=5", "--workloads=policy")
    for run in _runs(out).values():
        assert not run["unfinished"]
        assert run["figures"]["bound"] == _PODS
        assert run["figures"]["created_per_s"] == pytest.approx(20, rel=0.2)
        assert 0 < run["figures"]["wait_p50_ms"] <= run["figures"]["wait_p99_ms"] <= run["figures"]["wait_max_ms"]
        assert "first_bind_s" not in run["figures"]
    assert _runs(out)["plimsoll"]["figures"]["nodes_with_metrics"] == 10


@pytest.mark.cluster
def test_a_run_that_is_not_done_in_time_is_told(tmp_path: Path):
    out = tmp_path / "late.json"
    told = _bench(out, "--contenders=kube-scheduler-default", "--pods=300", "--limit=1", "--workloads=basic")
    run = _runs(out)["kube-scheduler-default"]
    assert run["unfinished"] == "not all pods were bound within 1 s"
    assert run["figures"]["bound"] < 300
    assert run["unfinished"] in told
