"""Prometheus' text format, as much of it as is needed, and what histograms tell."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')


class Line(NamedTuple):
    labels: dict[str, str]
    value: float


def lines(text: str, name: str) -> Iterator[Line]:
    """The samples of one name. The API server has a hundred thousand of others: they are not even split."""
    for found in re.finditer(rf"^{re.escape(name)}(?:\{{(.*)\}})? (\S+)", text, re.MULTILINE):
        yield Line(dict(_LABEL.findall(found[1] or "")), float(found[2]))


def total(text: str, name: str, **labels: str) -> float | None:
    """The sum over all that have these labels; None where there is no such metric."""
    values = [line.value for line in lines(text, name) if labels.items() <= line.labels.items()]
    return sum(values) if values else None


def buckets(text: str, name: str, *, but: Mapping[str, str] | None = None, **labels: str) -> dict[float, float]:
    """Of a histogram, summed over all that have these labels: cumulative counts by upper bound.

    Args:
        but: labels of those that are left out.
    """
    counts: defaultdict[float, float] = defaultdict(float)
    for line in lines(text, f"{name}_bucket"):
        left_out = but is not None and but.items() <= line.labels.items()
        if labels.items() <= line.labels.items() and not left_out:
            counts[float(line.labels["le"])] += line.value
    return dict(sorted(counts.items()))


def percentile(cumulative: Mapping[float, float], share: float) -> float | None:
    """As PromQL's histogram_quantile: linear within the bucket; the last finite bound where it is beyond that.

    None without observations.
    """
    wanted = share * cumulative.get(math.inf, 0.0)
    if not wanted:
        return None
    low, below = 0.0, 0.0
    for bound, count in cumulative.items():
        if count >= wanted:
            return low if math.isinf(bound) else low + (bound - low) * (wanted - below) / (count - below)
        low, below = bound, count
    return low


def largest_above(cumulative: Mapping[float, float]) -> float | None:
    """What the largest observation exceeds: the lower bound of the highest bucket that is not empty.

    None without observations.
    """
    observed = cumulative.get(math.inf, 0.0)
    exceeded = [bound for bound, below in cumulative.items() if below < observed]
    return max(exceeded, default=0.0) if observed else None


def requests(before: str, after: str, *, name: str = "apiserver_request_total") -> dict[str, int]:
    """What the API server answered between two readings: by ``VERB resource code``, most first."""
    counted = _by_request(after, name)
    counted.subtract(_by_request(before, name))
    return {what: int(count) for what, count in counted.most_common() if count > 0}


def count(asked: Mapping[str, int], *, verb: str = "", resource: str = "", code: str = "") -> int:
    """How many of those requests were of that kind; "" is any."""
    wanted = (verb, resource, code)
    return sum(
        n for what, n in asked.items() if all(w in ("", is_) for w, is_ in zip(wanted, what.split(), strict=True))
    )


def _by_request(text: str, name: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for labels, value in lines(text, name):
        resource = "/".join(filter(None, (labels["resource"], labels["subresource"])))
        counts[f"{labels['verb']} {resource} {labels['code']}"] += int(value)
    return counts
