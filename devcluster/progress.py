"""One line per thing that takes long, with the time it took."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Say what is going on, and at its end how long it took; on stderr, since stdout is for answers."""
    print(what, end=" ... ", file=sys.stderr, flush=True)
    started = time.monotonic()
    try:
        yield
    except BaseException:
        print("failed", file=sys.stderr, flush=True)
        raise
    print(f"{time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
