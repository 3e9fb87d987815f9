"""Being told to stop, by Ctrl-C or by SIGTERM, so that what was replayed by then is shown and kept."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

_INTERRUPTED, _TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends replays as Ctrl-C does."""


def exit_code(stop: KeyboardInterrupt) -> int:
    """That of a program which the signal ended, as shells have it."""
    return _TERMINATED if isinstance(stop, Terminated) else _INTERRUPTED


@contextlib.contextmanager
def sigterm_stops() -> Iterator[None]:
    """Within it SIGTERM raises Terminated, once.

    Without it SIGTERM would end this process alone: the processes that replay, and what they share, would be left.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    # Whoever asks twice must not cut short what ends the processes.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated
