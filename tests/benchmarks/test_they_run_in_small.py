"""Benchmarks assert nothing about times; that they run and say what they promise is tested here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parent.parent.parent


def test_what_a_plain_pod_pays_for_the_constraints_of_others():
    command = [sys.executable, "-m", "benchmarks.plain_pod", "--nodes", "20", "--pods", "100", "--decisions", "3"]
    answer = json.loads(
        subprocess.run(command, cwd=_ROOT, check=True, capture_output=True, text=True, timeout=60).stdout
    )
    assert answer["warm"]["ratio"] > 0
    assert answer["cold"]["ratio"] > 0
