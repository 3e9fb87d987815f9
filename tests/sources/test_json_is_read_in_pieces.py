"""A long answer is read piece by piece, and comes to the same as read at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.sources import quick_json
from plimsoll.sources.quick_json import Pieces, answer

# What could be taken for the end of a series, or of a string.
_TEXTS = st.one_of(st.text(max_size=8), st.sampled_from(['},{"metric":', '"result":[', "\\", '\\"', "]}}"]))
_SERIES = st.builds(
    lambda labels, value: {"metric": labels, "value": [1.5, value]},
    st.dictionaries(_TEXTS, _TEXTS, max_size=3),
    st.sampled_from(["1", "NaN", "+Inf"]),
)


def body_of(result: Any, **more: Any) -> bytes:
    answered = {"status": "success", "data": {"resultType": "vector", "result": result}, **more}
    return json.dumps(answered, separators=(",", ":"), ensure_ascii=False).encode()


def read(body: bytes) -> Any:
    """With a result that is read as it is asked for in full."""
    document = answer(body)
    if isinstance(document.get("data"), dict) and isinstance(document["data"].get("result"), Pieces):
        document["data"]["result"] = list(document["data"]["result"])
    return document


@pytest.fixture(autouse=True, scope="module")
def small_pieces() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(quick_json, "_PIECE_BYTES", 20)
        yield


@settings(max_examples=200)
@given(st.lists(_SERIES, max_size=8), st.booleans())
def test_it_is_the_same_as_read_at_once(result: list[Any], warned: bool) -> None:  # noqa: FBT001
    body = body_of(result, **({"warnings": ["slow"]} if warned else {}))
    assert read(body)["data"] == json.loads(body)["data"]


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"data": [{"metric": {}}, {"metric": {}}, {"metric": {}}]}, id="no result"),
        pytest.param({"data": {"result": "a text that is long enough to be cut"}}, id="no list"),
        pytest.param({"result": [{"metric": {}}, {"metric": {}}, {"metric": {}}]}, id="elsewhere"),
        pytest.param({"data": {"result": [[{"metric": {}}, {"metric": {}}, {"metric": {}}]]}}, id="nested"),
    ],
)
def test_what_is_written_otherwise_is_read_at_once(document: Any) -> None:
    body = json.dumps(document, separators=(",", ":")).encode()
    assert read(body) == document


@pytest.mark.parametrize("body", [b"", b"<html>", b"x" * 100, body_of([{"metric": {}}] * 9)[:-3], b"\xff" * 50])
def test_what_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read(body)
