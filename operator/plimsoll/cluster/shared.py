"""Equal parts of many objects, kept once: replicas differ in little more than their names.

Whoever has such a part never changes it.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import TypeVar

_Value = TypeVar("_Value", bound=Hashable)
_Part = TypeVar("_Part", bound=Hashable)

NOTHING: Mapping[str, str] = {}
# More distinct ones than this are merely kept more than once.
_KEPT = 4096


def shared_text(text: str) -> str:
    """The same text; what is no text, as a broken object may have it, stays as it is."""
    return sys.intern(text) if type(text) is str else text


def shared_mapping(mapping: Mapping[str, _Value]) -> dict[str, _Value]:
    """An equal mapping in the same order; its values are all of one type."""
    return _mapping(tuple(mapping.items()))  # type: ignore[return-value]


@lru_cache(_KEPT)
def shared(part: _Part) -> _Part:
    """An equal part."""
    return part


@lru_cache(_KEPT)
def _mapping(items: tuple[tuple[str, Hashable], ...]) -> dict[str, Hashable]:
    return dict(items)
