"""Collecting what of an answer cannot be used, counted by kind with one example each."""

from __future__ import annotations

import enum
from collections.abc import Mapping

from plimsoll.load.readings import Oddities


class Oddity(enum.Enum):
    NOT_FINITE = "NotFinite"
    NEGATIVE = "Negative"
    DUPLICATE = "Duplicate"  # several fresh series for one thing: the largest counts
    UNMAPPED = "Unmapped"  # names no known node
    AMBIGUOUS = "Ambiguous"  # names more than one
    PARTIAL = "Partial"  # window filled in part: corrected, or missing where that cannot be or too little is there
    OLD = "Old"  # no sample within ten minutes
    CAPACITY = "Capacity"  # a device whose capacity is not known: the default is assumed


class OddityLog:
    """Counts each odd series once, however many of a refresh's answers it is in."""

    def __init__(self) -> None:
        self._seen: dict[Oddity, set[str]] = {}

    def note(self, kind: Oddity, example: str) -> None:
        self._seen.setdefault(kind, set()).add(example)

    def result(self) -> Oddities:
        """The example is the first by name, so that it does not change with the order of an answer."""
        return Oddities(
            counts={kind.value: len(seen) for kind, seen in self._seen.items()},
            examples={kind.value: min(seen) for kind, seen in self._seen.items()},
        )


def series_text(metric: str, labels: Mapping[str, str]) -> str:
    """A series as people write it: ``networkReceive{device="eth0", instance="10.0.0.1:9100"}``."""
    pairs = ", ".join(f'{name}="{labels[name]}"' for name in sorted(labels))
    return f"{metric}{{{pairs}}}"
