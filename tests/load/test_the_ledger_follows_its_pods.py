"""The ledger's arrays tell what a plain table of the same pods would, in the order in which they were entered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.load.entry import Entry
from plimsoll.load.ledger import Ledger
from plimsoll.load.stays import Stays, stays
from tests.builders import NOW_S, make_cache, make_node, make_pod

NODES = ("n1", "n2", "n3")
_SHAPES = (make_pod("a").cpu("1"), make_pod("b").owner("Job", "j").memory("1Gi"), make_pod("c"))
PODS = [
    replace(_SHAPES[i % 3].info(), uid=Uid(f"uid-{i}"), name=f"p{i}", node=(*NODES, "gone")[i % 4]) for i in range(12)
]

deeds = st.lists(
    st.tuples(
        st.sampled_from(["put", "run", "end", "release", "prune", "node"]), st.integers(0, 11), st.integers(0, 2000)
    ),
    max_size=60,
)


def told(of: Stays) -> list[tuple[object, ...]]:
    """Pod by pod, whatever numbers kinds have."""
    places = {of.place(uid): uid for uid in of.line}
    return [
        (places[i], *times, of.workloads[kind], *of.told[:, kind].tolist())
        for i, (*times, kind) in enumerate(
            zip(
                of.rows.tolist(),
                of.placed_s.tolist(),
                of.started_s.tolist(),
                of.ended_s.tolist(),
                of.kinds.tolist(),
                strict=True,
            )
        )
    ]


class _Plain:
    """A dictionary of entries, and a ledger that is told the same."""

    def __init__(self) -> None:
        self.entries: dict[Uid, Entry] = {}
        self.ledger = Ledger()

    def do(self, deed: str, pod: PodInfo, at_s: float) -> None:
        if deed == "end":
            running = replace(pod, running_s=at_s - 50)
            self.entries[pod.uid] = Entry(running, at_s, at_s - 50, at_s)
            self.ledger.end(running, now_s=at_s)
        elif deed == "release":
            self.entries.pop(pod.uid, None)
            self.ledger.release(pod.uid)
        elif deed == "prune":
            self.entries = {uid: entry for uid, entry in self.entries.items() if shown_in_full_s(entry) > at_s}
            self.ledger.prune(covered_before_s=at_s)
        else:
            seen = replace(pod, running_s=at_s if deed == "run" else None)
            known = self.entries.get(pod.uid)
            self.entries[pod.uid] = Entry(seen, known.placed_s if known else at_s, seen.running_s)
            self.ledger.put(seen, now_s=at_s)


def shown_in_full_s(entry: Entry) -> float:
    if entry.ended_s is not None:
        return entry.ended_s
    return entry.placed_s + 600 if entry.started_s is None else entry.started_s


def node_flips(cache: Cache, name: str) -> None:
    if name in cache.view.row_of:
        cache.drop_node(name)
    else:
        cache.put_node(make_node(name).info())


@settings(max_examples=150)
@given(deeds)
def test_the_arrays_are_those_of_the_entries(story: list[tuple[str, int, int]]) -> None:
    cache, plain = make_cache(map(make_node, NODES)), _Plain()
    for deed, i, after_s in story:
        if deed == "node":
            node_flips(cache, NODES[i % 3])
        else:
            plain.do(deed, PODS[i], NOW_S + after_s)
        assert told(plain.ledger.stays(cache.view)) == told(stays(plain.entries.values(), cache.view))
    assert list(plain.ledger.entries()) == list(plain.entries.values())


def test_what_nothing_has_changed_is_made_once() -> None:
    cache, ledger = make_cache(map(make_node, NODES)), Ledger()
    ledger.put(PODS[0], now_s=NOW_S)
    first = ledger.stays(cache.view)
    assert ledger.stays(cache.view) is first
    node_flips(cache, "n3")
    assert ledger.stays(cache.view) is not first


def test_what_was_told_stays_when_pods_come_and_go() -> None:
    cache, ledger = make_cache(map(make_node, NODES)), Ledger()
    for pod in PODS:
        ledger.put(pod, now_s=NOW_S)
    before = ledger.stays(cache.view)
    rows, line = before.rows.copy(), dict(before.line)
    for pod in PODS:
        ledger.put(replace(pod, node="n2"), now_s=NOW_S + 1)
    ledger.prune(covered_before_s=NOW_S + 5000)
    assert len(ledger) == 0
    np.testing.assert_array_equal(before.rows, rows)
    assert before.line == line
    assert [before.place(pod.uid) for pod in PODS] == [0, 1, 2, None, 3, 4, 5, None, 6, 7, 8, None]
