"""Answers of the API server that are no success, as errors of Plimsoll."""

from __future__ import annotations

from http.client import responses
from typing import Any

import orjson

from plimsoll.errors import ApiError, Conflict, Forbidden, Gone, NotFound, Unavailable
from plimsoll.kube.lane import Reply

Json = dict[str, Any]


def error_from(request: str, reply: Reply) -> ApiError:
    """Of an answer that is no success; ``request`` is method and path, for people."""
    try:
        status = orjson.loads(reply.body)
    except ValueError:
        status = {}
    if not isinstance(status, dict) or status.get("kind") != "Status":
        status = {"message": f"{request} was answered {reply.status} {_phrase(reply.status)}".rstrip()}
    return error_of(reply.status, status, retry_after_s=_seconds(reply.retry_after))


def _phrase(code: int) -> str:
    return responses.get(code, "")


def error_of(code: int, status: Json, *, retry_after_s: float) -> ApiError:
    """``status`` is a Status of the API."""
    kinds: dict[int, type[ApiError]] = {
        401: Forbidden,
        403: Forbidden,
        404: NotFound,
        409: Conflict,
        410: Gone,
    }
    kind = kinds.get(code, Unavailable if code == 429 or code >= 500 else ApiError)
    return kind(
        str(status.get("message") or code),
        status=code,
        reason=str(status.get("reason") or ""),
        retry_after_s=retry_after_s,
    )


def _seconds(header: str) -> float:
    """Retry-After in seconds; the API server never sends the date form."""
    try:
        return max(float(header), 0.0)
    except ValueError:
        return 0.0
