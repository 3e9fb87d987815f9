"""Fitting sentences into the API's limits."""

from __future__ import annotations

from collections.abc import Iterable

_ENDING = " ..."


def cut(text: str, *, max_bytes: int) -> str:
    """At most ``max_bytes`` of UTF-8, ended by `` ...`` where something was cut, never inside a character.

    Half a surrogate pair, which JSON can hold and UTF-8 cannot, becomes ``?``.
    """
    encoded = text.encode(errors="replace")
    if len(encoded) <= max_bytes:
        return encoded.decode()
    return encoded[: max_bytes - len(_ENDING)].decode(errors="ignore") + _ENDING


def listed(items: Iterable[str], *, at_most: int = 3, of: int = 0) -> str:
    """``a``, ``a and b``, ``a, b and c``, ``a, b, c and 4 more``.

    Args:
        of: how many there are, where not all are among the items.
    """
    named = list(items)
    shown = named[:at_most]
    if (more := max(of, len(named)) - len(shown)) > 0:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join((", ".join(named[:-1]), named[-1])) if len(named) > 1 else "".join(named)
