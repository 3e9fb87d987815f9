"""Ask processes whether they work."""

import ssl
import time
import urllib.request
from collections.abc import Callable

from devcluster.errors import NotReadyError

_PROBE_TIMEOUT_S = 5.0
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 0.5
_PAUSE_PER_QUESTION = 2.0


def answers(url: str, *, context: ssl.SSLContext) -> bool:
    """Whether the URL answers 200."""
    opener = urllib.request.build_opener(
        # The environment's proxies are for the world outside, not for loopback.
        urllib.request.ProxyHandler({}),
        urllib.request.HTTPSHandler(context=context),
    )
    try:
        with opener.open(url, timeout=_PROBE_TIMEOUT_S):
            return True
    except OSError:
        return False


def wait_until(condition: Callable[[], bool], *, timeout_s: float, what: str) -> None:
    """Ask again and again, ever more slowly.

    Raises:
        NotReadyError: the time is over; the sentence begins with `what`.
    """
    deadline = time.monotonic() + timeout_s
    pause_s = _FIRST_PAUSE_S
    asked_at = time.monotonic()
    while not condition():
        now = time.monotonic()
        if now > deadline:
            raise NotReadyError(f"{what} within {timeout_s:.0f} s")
        # A question that costs a second, as that for thousands of nodes, must not keep them busy.
        time.sleep(max(pause_s, _PAUSE_PER_QUESTION * (now - asked_at)))
        pause_s = min(_LONGEST_PAUSE_S, pause_s * 1.5)
        asked_at = time.monotonic()
