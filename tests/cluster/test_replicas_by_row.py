from __future__ import annotations

from collections import Counter

import hypothesis.strategies as st
from hypothesis import given

from plimsoll.cluster.workload import WorkloadKey
from plimsoll.cluster.workload_index import WorkloadIndex

SIZE = 70  # many rows against few replicas, and few against many


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, SIZE - 1), st.booleans()), max_size=60))
def test_the_array_says_what_the_counts_say_whatever_comes_and_goes(steps: list[tuple[str, int, bool]]) -> None:
    index, want = WorkloadIndex(), {key: Counter[int]() for key in "ab"}
    for key, row, asked in steps:
        workload = WorkloadKey(key)
        if want[key][row] > 1:
            index.remove(row, workload)
            want[key][row] -= 1
        else:
            index.add(row, workload)
            want[key][row] += 1
        if asked:
            found = index.by_row(workload, SIZE)
            assert found is not None
            assert found.tolist() == [want[key][r] for r in range(SIZE)]
            assert dict(index.counts(workload)) == {r: n for r, n in want[key].items() if n}


def test_a_workload_without_replicas_has_no_array() -> None:
    index = WorkloadIndex()
    index.add(3, WorkloadKey("a"))
    index.remove(3, WorkloadKey("a"))
    assert index.by_row(WorkloadKey("a"), SIZE) is None
    assert index.counts(WorkloadKey("a")) == {}
