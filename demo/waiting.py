"""Waiting for something to become true, with a sentence when it does not."""

from __future__ import annotations

import time
from collections.abc import Callable

_STEP_S = 0.5


class DemoError(Exception):
    """The demo did not show what it is for."""


def wait_for(what: str, is_true: Callable[[], bool], *, timeout_s: float) -> None:
    """Raises:
    DemoError: not in time.
    """
    deadline_s = time.monotonic() + timeout_s
    while not is_true():
        if time.monotonic() > deadline_s:
            raise DemoError(f"{what}: not within {timeout_s:.0f} s")
        time.sleep(_STEP_S)
