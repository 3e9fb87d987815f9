"""Go durations in hours, minutes and seconds: ``90s``, ``5m``, ``1h30m``, ``1.5h``.

The grammar is Go's ``time.ParseDuration`` without a sign and without units below the second: no averaging
window and no interval is that fine.
"""

from __future__ import annotations

import re
from fractions import Fraction

from plimsoll.errors import InvalidInput

# RE2 as well as Python: the CRD's rules use the same expression.
GRAMMAR = r"(([0-9]+([.][0-9]*)?|[.][0-9]+)[hms])+"
_WHOLE = re.compile(GRAMMAR, re.ASCII)
_PART = re.compile(r"([0-9.]+)([hms])", re.ASCII)
_SECONDS = {"h": 3600, "m": 60, "s": 1}


def seconds(text: str) -> int:
    """The duration in whole seconds.

    Raises:
        InvalidInput: it is no such duration, or no whole number of seconds.
    """
    if not _WHOLE.fullmatch(text):
        raise InvalidInput(f"{text!r} is no duration: write hours, minutes and seconds, e.g. 90s, 5m or 1h30m")
    total = sum(Fraction(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    if total.denominator != 1:
        raise InvalidInput(f"{text!r} is no whole number of seconds: write e.g. {int(total) + 1}s")
    return int(total)
