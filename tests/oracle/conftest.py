from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.oracle.cases import Judge
from tests.oracle.judging import Judge as Process


@pytest.fixture(scope="session")
def judge() -> Iterator[Judge]:
    """kube-scheduler's own code; preemption may be asked several times, since some of its choices are made by chance."""
    with Process() as process:

        def verdicts(items: Any, *, runs: int) -> list[dict[str, Any]]:
            return process.judge(items, preempt=True, scores=True, runs=runs)

        yield verdicts
