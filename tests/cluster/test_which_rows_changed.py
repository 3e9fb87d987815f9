from __future__ import annotations

from collections.abc import Callable

import pytest

from plimsoll.cluster.row_log import RowLog
from tests.builders import make_cache, make_node, make_pod


def marked(*rows: int) -> RowLog:
    log = RowLog()
    for row in rows:
        log.mark(row)
    return log


@pytest.mark.parametrize(
    ("position", "rows"),
    [(0, {3, 5, 7}), (1, {5, 7}), (3, {5}), (4, set())],
    ids=["all of it", "a row that changed twice", "the last one", "nothing since"],
)
def test_the_rows_that_changed_since_are_told(position: int, rows: set[int]) -> None:
    assert marked(3, 5, 7, 5).since(position) == rows


def test_what_is_too_long_ago_is_not_told() -> None:
    log = marked(1, *range(10_000))
    assert log.since(0) is None
    assert log.since(log.position - 2) == {9_998, 9_999}


def test_a_row_is_another_when_its_node_or_its_pods_are() -> None:
    cache = make_cache([make_node("n0"), make_node("n1"), make_node("n2")])
    changed, here = cache.view.changed, make_pod("p").on("n1").info()
    changes: list[tuple[Callable[[], object], set[int]]] = [
        (lambda: cache.put_node(make_node("n2").cordoned().info()), {2}),
        (lambda: cache.put_pod(here), {1}),
        (lambda: cache.put_pod(make_pod("p").cpu("2").on("n1").info()), {1}),
        (lambda: cache.drop_pod(here.uid), {1}),
        (lambda: cache.drop_node("n0"), {0}),
        (lambda: cache.put_node(make_node("n2").cordoned().info()), set()),
    ]
    for happens, rows in changes:
        position = changed.position
        happens()
        assert changed.since(position) == rows
