"""The two small plugins: their formulas as they are meant."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.sim.contenders.available_memory import available_score
from plimsoll.sim.contenders.network_traffic import traffic_score

NAN = float("nan")


@pytest.mark.parametrize(
    ("received", "fit", "want"),
    [
        pytest.param([0.0, 50.0, 200.0], [True] * 3, [100, 75, 0], id="relative to the most"),
        pytest.param([0.0, 50.0, 200.0], [True, True, False], [100, 0, -300], id="among those that fit"),
        pytest.param([0.0, 0.0], [True] * 2, [100, 100], id="no traffic anywhere"),
        pytest.param([NAN, 50.0, 100.0], [True] * 3, [0, 50, 0], id="unknown is not idle"),
        pytest.param([NAN, NAN], [True] * 2, [0, 0], id="nothing known"),
        pytest.param([1.0, 3.0], [True] * 2, [67, 0], id="whole points"),
    ],
)
def test_traffic(received: list[float], fit: list[bool], want: list[int]) -> None:
    assert traffic_score(np.array(received), np.array(fit)).tolist() == want


@pytest.mark.parametrize(
    ("available", "want"),
    [
        pytest.param([64.0, 32.0, 0.0], [100, 50, 0], id="relative to the largest node"),
        pytest.param([65.0, 21.0], [100, 32], id="at most 100, whole points"),
        pytest.param([NAN, 1.0], [0, 1], id="unknown is not free"),
    ],
)
def test_memory(available: list[float], want: list[int]) -> None:
    assert available_score(np.array(available), max_mem_bytes=64.0).tolist() == want
