"""Kubernetes quantities as exact integers.

The grammar is apimachinery's ``resource.Quantity``: a signed decimal number, then nothing, a decimal
suffix (n u m k M G T P E), a binary suffix (Ki Mi Gi Ti Pi Ei) or an exponent (e3, E-2). The scheduler
rounds up: a request is never counted smaller than it is.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from plimsoll.errors import QuantityError

_GRAMMAR = re.compile(
    r"(?P<sign>[+-]?)(?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
    r"(?P<suffix>[numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?",
    re.ASCII,
)
_SUFFIXES = {
    "": Fraction(1),
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    **{letter: Fraction(10 ** (3 * (i + 1))) for i, letter in enumerate("kMGTPE")},
    **{f"{letter}i": Fraction(1024 ** (i + 1)) for i, letter in enumerate("KMGTPE")},
}
# The API server's own bound is 2**63 - 1; a longer exponent is an attack on memory, not a quantity.
_MAX_EXPONENT = 30
_LONGEST = 256
_INT64_MAX = 2**63 - 1


def exact(text: object) -> Fraction:
    """The quantity as an exact fraction of its base unit (cores, bytes, pieces).

    Raises:
        QuantityError: the text is not a quantity.
    """
    return _parse(_spelling(text))


def milli(text: object) -> int:
    """The quantity in thousandths of its base unit, rounded up (0.5m is 1)."""
    return _bounded(_ceil(exact(text) * 1000))


def whole(text: object) -> int:
    """The quantity in its base unit, rounded up (100m is 1)."""
    return _bounded(_ceil(exact(text)))


def nano(text: object) -> int:
    """The quantity in thousand millionths of its base unit, the finest that the API keeps: for sums of quantities.

    Sums are rounded once, at the end: two requests of half a milli are one milli.
    """
    return _nano(_spelling(text))


def rounded(nanos: int, unit: int) -> int:
    """A sum of ``nano`` in units of so many nano, rounded up."""
    return _bounded(-(-nanos // unit))


@lru_cache(maxsize=4096)
def _parse(text: str) -> Fraction:
    match = _GRAMMAR.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise _no_quantity(text)
    value = Fraction(match["number"]) * _scale(text, match["suffix"] or "")
    return -value if match["sign"] == "-" else value


def _scale(text: str, suffix: str) -> Fraction:
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    exponent = int(suffix[1:])
    if abs(exponent) > _MAX_EXPONENT:
        raise QuantityError(f"{text!r} is not a quantity: its exponent is beyond {_MAX_EXPONENT}")
    return Fraction(10) ** exponent


@lru_cache(maxsize=4096)
def _nano(text: str) -> int:
    value = _parse(text) * 10**9
    return _ceil(value) if value >= 0 else -_ceil(-value)


def _spelling(text: object) -> str:
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise _no_quantity(text)
    return str(text)


def _no_quantity(text: object) -> QuantityError:
    return QuantityError(f"{text!r:.80} is not a quantity: write a number with an optional suffix, e.g. 500m or 1Gi")


def _ceil(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def _bounded(value: int) -> int:
    """Quantities above what an int64 holds are capped there, as the API server does."""
    return max(-_INT64_MAX, min(value, _INT64_MAX))
