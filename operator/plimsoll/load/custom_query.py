"""A custom metric's query as it is asked: the policy's words in place of their names.

Two names are known, $timeRange and $deviceName, with braces or without; any other dollar sign stays as it is.
What is filled in is one literal of PromQL each, so that no value can become a part of the query.
"""

from __future__ import annotations

import re

from plimsoll.load.promql import duration, string

_TIME_RANGE = "timeRange"
_NAMES = re.compile(r"\$(?:\{(?P<braced>timeRange|deviceName)\}|(?P<bare>timeRange|deviceName)(?![A-Za-z0-9_]))")


def filled(query: str, *, time_range_s: float, devices: str) -> str:
    """The query with a duration for $timeRange and a string, quotes included, for $deviceName."""
    values = {_TIME_RANGE: duration(time_range_s), "deviceName": string(devices)}
    return _NAMES.sub(lambda found: values[_name(found)], query)


def averages(query: str) -> bool:
    """Whether the answer is about the policy's window; else it is taken for an instant value."""
    return any(_name(found) == _TIME_RANGE for found in _NAMES.finditer(query))


def _name(found: re.Match[str]) -> str:
    return found["braced"] or found["bare"]
