"""What went wrong with a source, as sentences that say what to do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import requests

from plimsoll.errors import QueryRejected, SourceError, SourceUnreachable
from plimsoll.policy.compiled import PrometheusSource

CHECK_URL = "check spec.metricsSource.prometheus.url"

# Prometheus' errorType where it is this query that is at fault; a time-out is that of the query's evaluation.
_QUERY_ERRORS = frozenset({"bad_data", "execution", "timeout", "canceled"})
_BY_STATUS = {
    401: "asks for credentials (401): let it be read without, or put a proxy with credentials before it",
    403: "refuses access (403): let it be read by this address",
    404: f"has no query API there (404): {CHECK_URL}, its path too",
    429: "is asked too often (429): raise spec.refreshInterval, or its limit",
}
_LONGEST = 300


def shown(source: PrometheusSource) -> str:
    """Prometheus with its address, without what may be secret in it."""
    return f"Prometheus at {_public(source.url)}"


def late(source: PrometheusSource) -> SourceUnreachable:
    return SourceUnreachable(f"{shown(source)} did not answer within {source.timeout_s:g} s.")


def refusal(name: str, answer: requests.Response | None) -> SourceError:
    """What an answer with another status than 200 means."""
    status = answer.status_code if answer is not None else 0
    told = _told(answer)
    if str(told.get("errorType")) in _QUERY_ERRORS:
        return QueryRejected(f"{name} refuses the query: {one_line(str(told.get('error', status)))}.")
    if answer is not None and 300 <= status < 400:
        target = one_line(_public(answer.headers.get("Location", "elsewhere")))
        return SourceUnreachable(f"{name} redirects to {target}, which is not followed: write that into the url.")
    why = _BY_STATUS.get(status) or f"answers {status}{_detail(told)}: see its log"
    return SourceUnreachable(f"{name} {why}.")


def cause(error: BaseException) -> str:
    """The first cause of a chain of errors, in a few words."""
    deepest = error
    while (deeper := _deeper(deepest)) is not None:
        deepest = deeper
    words = deepest.strerror if isinstance(deepest, OSError) and deepest.strerror else str(deepest)
    return one_line(words or type(deepest).__name__)


def one_line(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


def _deeper(error: BaseException) -> BaseException | None:
    """urllib3 keeps the reason in an attribute, requests in the arguments, others in ``__cause__``."""
    candidates = (getattr(error, "reason", None), *error.args, error.__cause__)
    return next((c for c in candidates if isinstance(c, BaseException)), None)


def _told(answer: requests.Response | None) -> Mapping[str, Any]:
    try:
        told = json.loads(answer.content) if answer is not None else {}
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _detail(told: Mapping[str, Any]) -> str:
    return f" ({one_line(str(told['error']))})" if told.get("error") else ""


def _public(url: str) -> str:
    """Without credentials, query and fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that cannot be read"
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
