"""Runs as lines of JSON, and back."""

from __future__ import annotations

import dataclasses
import json
import platform
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.decisions.run import Run
from benchmarks.decisions.stopwatch import Cost, Step


def line(run: Run) -> str:
    """Costs in microseconds; with what they were measured on."""
    about = {"python": platform.python_version(), "numpy": np.__version__, "machine": platform.machine()}
    return json.dumps({"about": about, **dataclasses.asdict(run)})


def read(path: Path) -> list[Run]:
    return [_run(json.loads(text)) for text in path.read_text().splitlines() if text]


def _run(fields: dict[str, Any]) -> Run:
    del fields["about"]
    costs = {Step(step): Cost(**cost) for step, cost in fields.pop("costs").items()}
    return Run(**fields, costs=costs)
