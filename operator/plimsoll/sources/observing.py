"""How long sources take to answer, for whoever measures it."""

from __future__ import annotations

from collections.abc import Callable

# Told the policy's name and the seconds of one query, failures included.
OnQuery = Callable[[str, float], None]


def unobserved(_policy: str, _seconds: float) -> None:
    """Where nobody measures."""
