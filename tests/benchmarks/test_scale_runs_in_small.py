"""Nothing is asserted about times: that every kind of work is measured, and what is written of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parent.parent.parent


def test_what_a_large_cluster_costs(tmp_path: Path):
    written = tmp_path / "scale.json"
    sizes = ("--nodes", "20", "--pods", "100", "--metrics", "6", "--times", "4")
    command = [sys.executable, "-m", "benchmarks.scale", *sizes, "--wall", "--json", str(written)]
    subprocess.run(command, cwd=_ROOT, check=True, capture_output=True, text=True, timeout=120)
    report = json.loads(written.read_text())
    assert report["options"]["nodes"] == 20
    times = {cost["what"]: cost["times"] for cost in report["costs"]}
    assert times["an assigned pod of the first list"] == 100
    assert times["a node's heartbeat"] == times["pod MODIFIED, confirms our Binding"] == 4
    assert times["judging 6 metrics"] == 6, "three refreshes with few pods in flight, and three with all"
    assert all(0 < cost["median_ms"] <= cost["max_ms"] for cost in report["costs"])
    assert report["figures"]["with_a_policy_mib"] > 0
    assert len(report["figures"]["longest_lags_ms"]) == 3
