from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.oracle.cases import Judge
from tests.oracle.judging import Judge as Process


@pytest.fixture(scope="session")
def judge() -> Iterator[Judge]:
    """kube-scheduler's own code; preemption is asked five times, since some of its choices are made by chance."""
    with Process() as process:

        def verdicts(items: Any) -> list[dict[str, Any]]:
            return process.judge(items, preempt=True, scores=True, runs=5)

        yield verdicts
