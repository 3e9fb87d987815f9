"""How long sources take to answer, for whoever measures it."""

from __future__ import annotations

from collections.abc import Callable

# Told the policy's name and the seconds of one query, failures included.
OnQuery = Callable[[str, float], None]


# Told the kind of source and the result (answered, empty, failed) of each look at what pods use.
OnLook = Callable[[str, str], None]


def unobserved(_policy: str, _seconds: float) -> None:
    """Where nobody measures."""


def uncounted(_source: str, _result: str) -> None:
    """Where nobody counts."""
