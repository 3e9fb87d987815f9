"""Rows for people that are made when they are looked at: of most nobody sees more than a few."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

_T = TypeVar("_T")


class MadeLate(Sequence[_T]):
    """A sequence that keeps what its items are made of, not the items."""

    __slots__ = ()

    @abstractmethod
    def _made(self, place: int) -> _T:
        """The item at the place, from 0."""

    @overload
    def __getitem__(self, place: int) -> _T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[_T]: ...
    def __getitem__(self, place: int | slice) -> _T | Sequence[_T]:
        places = range(len(self))[place]
        return self._made(places) if isinstance(places, int) else tuple(map(self._made, places))
