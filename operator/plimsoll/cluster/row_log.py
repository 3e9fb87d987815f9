"""Which rows have changed: so that what is kept by row is worked out again only where it may be another."""

from __future__ import annotations

from collections import deque
from itertools import islice

import numpy as np
from numpy.typing import NDArray

# Some rows, or (a slice) all of them.
At = NDArray[np.int64] | slice
ALL = slice(None)

# Whoever has missed more changes than this looks at every row again, which then costs no more.
_KEPT = 512


class RowLog:
    """The last changes, by row.

    Attributes:
        position: goes up with every change.
    """

    def __init__(self) -> None:
        self.position = 0
        self._rows: deque[int] = deque(maxlen=_KEPT)

    def mark(self, row: int) -> None:
        """Something about the row is another."""
        self._rows.append(row)
        self.position += 1

    def since(self, position: int) -> set[int] | None:
        """Rows that have changed since the log stood there; None where that is too long ago to tell."""
        missed = self.position - position
        if missed > len(self._rows):
            return None
        return set(islice(reversed(self._rows), missed))
