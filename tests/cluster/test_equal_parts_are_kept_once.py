from __future__ import annotations

from typing import Any

import pytest

from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.shared import shared, shared_mapping, shared_text
from tests.builders import make_pod


def _pod(name: str, **labels: str) -> PodInfo:
    return make_pod(name).labels(app="web", **labels).cpu("100m").on("node-1").info()


@pytest.mark.parametrize("part", ["labels", "requests", "tolerations", "class_key", "node", "namespace"])
def test_replicas_share_what_is_equal(part: str) -> None:
    assert getattr(_pod("web-1"), part) is getattr(_pod("web-2"), part)


def test_what_differs_is_kept_apart() -> None:
    first, second = _pod("web-1", index="1"), _pod("web-2", index="2")
    assert (first.labels["index"], second.labels["index"]) == ("1", "2")


def test_a_shared_mapping_keeps_its_order() -> None:
    assert list(shared_mapping({"b": 1, "a": 2})) == ["b", "a"]
    assert list(shared_mapping({"a": 2, "b": 1})) == ["a", "b"]


@pytest.mark.parametrize("odd", [None, 5, ["a"]])
def test_what_is_no_text_stays_as_it_is(odd: Any) -> None:
    assert shared_text(odd) is odd


def test_equal_parts_become_one() -> None:
    first, second = (tuple(letters) for letters in ("ab", "ab"))
    assert first is not second
    assert shared(first) == second
    assert shared(first) is shared(second)
