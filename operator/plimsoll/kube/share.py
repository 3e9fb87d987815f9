"""Who goes first where all want the API server at once: Bindings; the rest in what they leave, but never far behind."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LaggingShare:
    """How many requests may be under way: few while somebody else is busy, more the longer the oldest has waited.

    Attributes:
        few: so many always.
        most: so many where nobody else is busy, and once the oldest has waited for ``late_s``.
        early_s, late_s: between these ages the number grows evenly.
    """

    few: int = 2
    most: int = 96
    early_s: float = 5.5
    late_s: float = 8.0

    def under_way(self, *, oldest_s: float, others_busy: bool) -> int:
        """``oldest_s``: how long the oldest has waited."""
        if not others_busy:
            return self.most
        late = (oldest_s - self.early_s) / (self.late_s - self.early_s)
        return self.few + round((self.most - self.few) * min(max(late, 0.0), 1.0))
