"""What has changed: so that what is kept by row, or by node, is worked out again only where it may be another."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

# Some rows, or (a slice) all of them.
At = NDArray[np.int64] | slice
ALL = slice(None)

# Whoever has missed more changes than this looks at everything again, which then costs no more.
_KEPT = 512

_Where = TypeVar("_Where", int, str)


class ChangeLog(Generic[_Where]):
    """The last changes, by row or by name.

    Attributes:
        position: goes up with every change.
    """

    def __init__(self) -> None:
        self.position = 0
        self._changed: deque[_Where] = deque(maxlen=_KEPT)

    def mark(self, where: _Where) -> None:
        """Something about it is another."""
        self._changed.append(where)
        self.position += 1

    def since(self, position: int) -> set[_Where] | None:
        """What has changed since the log stood there; None where that is too long ago to tell."""
        missed = self.position - position
        if missed > len(self._changed):
            return None
        return set(islice(reversed(self._changed), missed))


RowLog = ChangeLog[int]
NameLog = ChangeLog[str]
