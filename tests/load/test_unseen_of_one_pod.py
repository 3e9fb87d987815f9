from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from plimsoll.load.entry import Entry
from plimsoll.load.stays import stays_on
from plimsoll.load.unseen import unseen, unseen_of_one
from tests.builders import make_pod

POD = make_pod("p").on("n1").info()
times = st.integers(0, 2000).map(float)


@given(times, st.none() | times, st.none() | times, st.just(np.nan) | times, st.sampled_from([0.0, 60.0, 300.0, 900.0]))
def test_of_one_pod_the_same_is_unseen_as_of_many(
    placed_s: float, started_s: float | None, ended_s: float | None, sampled_at_s: float, window_s: float
) -> None:
    entry = Entry(POD, placed_s, started_s, ended_s)
    many = unseen(stays_on([(entry, 0)]), sampled_at_s=np.array([sampled_at_s]), window_s=np.array([[window_s]]))
    assert unseen_of_one(entry, sampled_at_s=sampled_at_s, window_s=window_s) == many[0, 0]
