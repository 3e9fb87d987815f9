"""Numbers on the command lines of benchmarks; what is refused is named with the flag by argparse."""

from __future__ import annotations

import argparse
import math


def count(text: str) -> int:
    """A whole number from 1 on."""
    return _from(text, least=1)


def whole(text: str) -> int:
    """A whole number from 0 on."""
    return _from(text, least=0)


def positive(text: str) -> float:
    if not (number := no_less(text)):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def no_less(text: str) -> float:
    """A number from 0 on."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no number from 0 on")
    return number


def _from(text: str, *, least: int) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text} is no whole number from {least} on")
    return int(text)
