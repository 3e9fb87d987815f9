"""Where the choices of a random cluster come from: a seeded generator (fast) or hypothesis (which shrinks)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Source:
    """Choices, all made of one: an integer between two others."""

    def __init__(self, integer: Callable[[int, int], int]) -> None:
        self.integer = integer

    @classmethod
    def seeded(cls, seed: int) -> Source:
        return cls(random.Random(seed).randint)

    @classmethod
    def drawn(cls, draw: Callable[[st.SearchStrategy[Any]], Any]) -> Source:
        return cls(lambda low, high: draw(st.integers(low, high)))

    def chance(self, percent: int) -> bool:
        return self.integer(0, 99) >= 100 - percent

    def pick(self, choices: Sequence[T]) -> T:
        """One of them; hypothesis shrinks towards the first."""
        return choices[self.integer(0, len(choices) - 1)]

    def some(self, choices: Sequence[T], *, at_least: int = 0, at_most: int = 99) -> list[T]:
        """Different ones, in their order."""
        wanted = self.integer(at_least, min(at_most, len(choices)))
        left = list(range(len(choices)))
        picked = [left.pop(self.integer(0, len(left) - 1)) for _ in range(wanted)]
        return [choices[i] for i in sorted(picked)]

    def times(self, low: int, high: int) -> range:
        return range(self.integer(low, high))
