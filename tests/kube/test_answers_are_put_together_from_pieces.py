from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.kube.answer import Answer, MalformedAnswer

_BODIES = st.binary(max_size=300)


def _counted(body: bytes) -> bytes:
    return b"HTTP/1.1 201 Created\r\nRetry-After: 7\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


def _chunked(body: bytes, size: int) -> bytes:
    chunks = (body[at : at + size] for at in range(0, len(body), size))
    coded = b"".join(b"%x;note=1\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n" + coded + b"0\r\nTrailer: x\r\n\r\n"


def _pieces(data: bytes, cuts: list[int]) -> Iterator[bytes]:
    ends = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    return (data[begin:end] for begin, end in itertools.pairwise(ends))


def _fed(*pieces: bytes) -> Answer:
    answer = Answer()
    for piece in pieces:
        answer.feed(piece)
    return answer


@given(_BODIES, st.lists(st.integers(0, 10_000), max_size=12))
def test_it_does_not_matter_where_a_counted_answer_is_cut(body: bytes, cuts: list[int]) -> None:
    answer = _fed(*_pieces(_counted(body), cuts))
    assert (answer.status, answer.done, answer.body, answer.rest) == (201, True, body, b"")
    assert (answer.header(b"retry-after"), answer.keeps_open) == ("7", True)


@given(_BODIES, st.integers(1, 40), st.lists(st.integers(0, 10_000), max_size=12))
def test_it_does_not_matter_where_a_chunked_answer_is_cut(body: bytes, size: int, cuts: list[int]) -> None:
    answer = _fed(*_pieces(_chunked(body, size), cuts))
    assert (answer.status, answer.done, answer.body, answer.rest) == (201, True, body, b"")


@given(_BODIES, st.integers(0, 10_000))
def test_what_is_not_complete_is_not_done(body: bytes, cut: int) -> None:
    whole = _counted(body)
    answer = _fed(whole[: cut % len(whole)])
    assert not answer.done
    with pytest.raises(MalformedAnswer, match="in the middle"):
        answer.ends()


def test_what_comes_behind_its_end_is_no_part_of_it() -> None:
    answer = _fed(_counted(b"{}") + b"HTTP/1.1 400")
    assert (answer.body, answer.rest) == (b"{}", b"HTTP/1.1 400")


def test_something_preliminary_is_passed_over() -> None:
    answer = _fed(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", _counted(b"{}"))
    assert (answer.status, answer.body, answer.done) == (201, b"{}", True)


def test_an_answer_without_a_length_ends_with_the_connection() -> None:
    answer = _fed(b"HTTP/1.1 500 Oops\r\n\r\nall", b" broken")
    assert not answer.done
    answer.ends()
    assert (answer.status, answer.body, answer.done, answer.keeps_open) == (500, b"all broken", True, False)


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", id="it says so"),
        pytest.param(b"HTTP/1.1 200 OK\r\nConnection:close\r\nContent-Length: 0\r\n\r\n", id="without a blank"),
        pytest.param(b"HTTP/1.1 200 OK\r\nCONNECTION: x, Close\r\nContent-Length: 0\r\n\r\n", id="among others"),
        pytest.param(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", id="an old protocol"),
    ],
)
def test_no_request_follows_on_a_connection_that_ends(head: bytes) -> None:
    answer = _fed(head)
    assert (answer.done, answer.keeps_open) == (True, False)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"SSH-2.0-OpenSSH\r\n\r\n", id="another protocol"),
        pytest.param(b"HTTP/1.1 abc\r\n\r\n", id="no status"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", id="a negative length"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 1_0\r\n\r\n", id="no length"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", id="an encoding nobody asked for"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", id="no size of a chunk"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n", id="a longer chunk"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n{", id="carried out, and of no length: it may have been cut off"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 67108865\r\n\r\n", id="a body beyond all measure"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4000001\r\n", id="such a chunk"),
        pytest.param(b"HTTP/1.1 200 OK\r\n" + b"x" * 70_000, id="a head without end"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 5_000, id="a line without end"),
    ],
)
def test_what_cannot_be_an_answer_is_told(data: bytes) -> None:
    with pytest.raises(MalformedAnswer):
        _fed(data)


def test_chunks_that_come_to_more_than_an_answer_has_are_refused() -> None:
    answer = _fed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    chunk = b"800000\r\n" + b"x" * 0x800000 + b"\r\n"
    for _ in range(8):
        answer.feed(chunk)
    with pytest.raises(MalformedAnswer, match="too long"):
        answer.feed(chunk)


@pytest.mark.parametrize("head", [b"Content-Length: %d\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n%x\r\n"])
def test_what_has_come_is_not_copied_with_each_piece(head: bytes) -> None:
    """16 MiB in 2,000 pieces would be copied a thousand times."""
    answer, pieces = _fed(b"HTTP/1.1 200 OK\r\n" + head % (2_001 * 8_192)), [b"x" * 8_192] * 2_000
    began_s = time.thread_time()
    joined = b"".join(pieces)
    once_s, began_s = time.thread_time() - began_s, time.thread_time()
    for piece in pieces:
        answer.feed(piece)
    assert time.thread_time() - began_s < 100 * once_s
    assert answer.body == joined
