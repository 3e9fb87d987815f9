"""Prometheus' JSON, read in pieces: whoever reads JSON in one go keeps all other threads from running meanwhile, and
so does whoever lets go of all of it in one go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import orjson
import requests

# A millisecond's work.
_PIECE_BYTES = 128 * 1024
_FIRST = re.compile(rb'"result"\s*:\s*\[')
# Between two series. Within a string of JSON its quotes would be escaped.
_BETWEEN = b'},{"metric":'


class QuickResponse(requests.Response):
    """Another response, with its JSON read so."""

    def __init__(self, response: requests.Response) -> None:
        super().__init__()
        self.__dict__.update(response.__dict__)

    def json(self, **_: Any) -> Any:
        """The document; a long result in it is an iterable that is read as it is asked for."""
        return answer(self.content)


class Pieces:
    """The result of a long answer, series by series.

    Args:
        at: where in the body it begins.
    """

    def __init__(self, body: bytes, at: int) -> None:
        self._body, self._begin = body, at

    def __iter__(self) -> Iterator[Any]:
        """Raises json.JSONDecodeError where the body is no JSON after all."""
        told = 0
        try:
            for piece in self._pieces():
                yield from piece
                told += len(piece)
        except (ValueError, LookupError, TypeError):
            # Numbers beyond all bounds, or something else that Prometheus does not write.
            yield from _slowly(self._body)["data"]["result"][told:]

    def _pieces(self) -> Iterator[list[Any]]:
        body, at = self._body, self._begin
        while (end := body.find(_BETWEEN, at + _PIECE_BYTES)) >= 0:
            yield orjson.loads(b"[" + body[at : end + 1] + b"]")
            at = end + 2
        # With the head it is a document again, so that what comes after the result is looked at as well.
        yield orjson.loads(body[: self._begin] + body[at:])["data"]["result"]


def answer(body: bytes) -> Any:
    """The document.

    Raises:
        ValueError: it is no JSON.
    """
    begin = _FIRST.search(body, 0, _PIECE_BYTES) if len(body) > _PIECE_BYTES else None
    if begin is not None:
        try:
            document = orjson.loads(body[: begin.end()] + b"]}}")
            if document["data"]["result"] == []:
                document["data"]["result"] = Pieces(body, begin.end())
                return document
        except (ValueError, LookupError, TypeError):
            pass  # it is not written as Prometheus writes it
    try:
        return orjson.loads(body)
    except ValueError:
        return _slowly(body)


def _slowly(body: bytes) -> Any:
    """What orjson does not read: numbers beyond all bounds. Bytes that are no text are no JSON either."""
    return json.loads(body.decode(errors="replace"))
