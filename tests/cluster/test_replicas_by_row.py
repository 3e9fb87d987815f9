from __future__ import annotations

from collections import Counter

import hypothesis.strategies as st
from hypothesis import given

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.workload_index import WorkloadIndex
from tests.builders import make_pod

SIZE = 70  # many rows against few replicas, and few against many
PODS = {key: make_pod(key).owner("Job", key).info() for key in "ab"}
Where = dict[tuple[str, int], int]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, SIZE - 1), st.booleans()), max_size=60))
def test_the_array_says_what_the_counts_say_whatever_comes_and_goes(steps: list[tuple[str, int, bool]]) -> None:
    index, want = WorkloadIndex(), {key: Counter[int]() for key in "ab"}
    for key, row, asked in steps:
        pod = PODS[key]
        if want[key][row] > 1:
            index.remove(row, pod)
            want[key][row] -= 1
        else:
            index.add(row, pod)
            want[key][row] += 1
        if asked:
            found = index.by_row(pod.workload, SIZE)
            assert found is not None
            assert found.tolist() == [want[key][r] for r in range(SIZE)]
            assert dict(index.counts(pod.workload)) == {r: n for r, n in want[key].items() if n}


def test_a_workload_without_replicas_has_no_array() -> None:
    index = WorkloadIndex()
    index.add(3, PODS["a"])
    index.remove(3, PODS["a"])
    assert index.by_row(PODS["a"].workload, SIZE) is None
    assert index.counts(PODS["a"].workload) == {}


def counted(index: WorkloadIndex) -> Where:
    every = index.all()
    columns = zip(every.workload.tolist(), every.row.tolist(), every.count.tolist(), strict=True)
    return {(every.examples[w].name, row): count for w, row, count in columns}


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 5)), max_size=40), st.integers(0, 40))
def test_changes_lead_from_what_there_was_to_what_there_is(steps: list[tuple[str, int]], looked: int) -> None:
    index, there = WorkloadIndex(), list[tuple[int, PodInfo]]()
    before, version = counted(index), index.version
    for i, (key, row) in enumerate(steps):
        if i == looked:
            before, version = counted(index), index.version
        if (row, PODS[key]) in there:
            there.remove((row, PODS[key]))
            index.remove(row, PODS[key])
        else:
            there.append((row, PODS[key]))
            index.add(row, PODS[key])
    changes = index.changes_since(version)
    assert changes is not None
    names = {pod.workload: key for key, pod in PODS.items()}
    net = {(names[key], row): amount for (key, row), amount in changes.items()}
    after = {place: before.get(place, 0) + net.get(place, 0) for place in {*before, *net}}
    assert {place: count for place, count in after.items() if count} == counted(index)


def test_changes_from_too_long_ago_are_not_told() -> None:
    index = WorkloadIndex()
    for _ in range(5000):
        index.add(0, PODS["a"])
    assert index.changes_since(0) is None
    assert index.changes_since(4999) == {(PODS["a"].workload, 0): 1}
    assert index.changes_since(5000) == {}
