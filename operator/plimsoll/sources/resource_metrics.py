"""Reading ``metrics.k8s.io/v1beta1``: its lists, its numbers, and what its refusals mean."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import urllib3
from kubernetes.client.exceptions import ApiException

from plimsoll.cluster.quantity import exact
from plimsoll.errors import QuantityError
from plimsoll.sources.sentences import cause

Json = Mapping[str, Any]

GROUP, VERSION = "metrics.k8s.io", "v1beta1"
# What asking raises, and what reading an answer does that is none.
REFUSED = (TimeoutError, ApiException, urllib3.exceptions.HTTPError, OSError)
NONSENSE = (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError)

_BY_STATUS = {
    401: "The API server does not know us (401): check the credentials of Plimsoll.",
    403: "Plimsoll may not list {what} of metrics.k8s.io (403): grant it get and list on {what}.metrics.k8s.io.",
    404: "metrics.k8s.io is not served (404): install metrics-server, or set spec.metricsSource.prometheus.",
    429: "The API server is asked too often (429): raise spec.refreshInterval.",
    503: "metrics.k8s.io is out of service (503): look at APIService v1beta1.metrics.k8s.io and metrics-server's log.",
}
_KINDS = {"nodes": "NodeMetrics", "pods": "PodMetrics"}
_ITEMS = re.compile(r'"items"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")
# As metrics-server writes nearly all of them; exact numbers of any other spelling take ten times as long.
_USUAL = re.compile(r"([0-9]{1,15})(n|Ki)", re.ASCII)
_GO_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?(?:h|ms|us|µs|ns|m|s))+", re.ASCII)
_GO_PART = re.compile(r"([0-9.]+)(h|ms|us|µs|ns|m|s)", re.ASCII)
_UNITS_S = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def refusal(error: Exception, *, what: str, timeout_s: float) -> str:
    """Why ``what`` (nodes, pods) could not be listed, for one of REFUSED or NONSENSE, as a sentence."""
    match error:
        case TimeoutError():
            return f"The API server did not answer for metrics.k8s.io within {timeout_s:g} s."
        case ApiException():
            other = f"The API server answers {error.status} for metrics.k8s.io: see metrics-server's log."
            return _BY_STATUS.get(error.status or 0, other).format(what=what)
        case urllib3.exceptions.HTTPError() | OSError():
            return f"The API server cannot be reached for metrics.k8s.io: {cause(error)}."
        case _:
            return f"metrics.k8s.io answers something that is no list of {_KINDS[what]}: {cause(error)}."


def items(text: str) -> Iterator[Json]:
    """The items of a list in JSON, one after the other.

    Reading a long list at once would keep all other threads from running, for half a second with 50,000 pods.

    Raises:
        LookupError, ValueError: it is no list.
    """
    begin = _ITEMS.search(text)
    if begin is None:
        raise ValueError("it has no items")
    decoder, at = json.JSONDecoder(), begin.end()
    while text[at := _after(text, at)] != "]":
        item, at = decoder.raw_decode(text, at)
        yield item


def amount(quantity: object) -> float:
    """The quantity in its base unit; NaN where it is none, which nobody takes for 0."""
    if isinstance(quantity, str) and (usual := _USUAL.fullmatch(quantity)):
        number = int(usual[1])
        return number / 1e9 if usual[2] == "n" else number * 1024.0
    try:
        return float(exact(quantity))
    except QuantityError:
        return math.nan


def go_duration_s(text: object) -> float:
    """A duration as Go writes it; NaN where it is none."""
    if not isinstance(text, str) or not _GO_DURATION.fullmatch(text):
        return math.nan
    return sum(float(number) * _UNITS_S[unit] for number, unit in _GO_PART.findall(text))


def or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def _after(text: str, at: int) -> int:
    between = _BETWEEN.match(text, at)
    return at if between is None else between.end()
