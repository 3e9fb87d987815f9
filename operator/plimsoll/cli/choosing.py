"""Names that people give, against the names that there are."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from plimsoll.errors import InvalidInput

_ALL = "all"


def chosen(given: str, known: Collection[str], *, what: str) -> tuple[str, ...]:
    """The names, once each, in the order in which they were given; ``all`` is all of them.

    Args:
        given: with commas between them.
        what: e.g. ``scenario``.

    Raises:
        InvalidInput: names what is unknown, and what there is.
    """
    names = dict.fromkeys(name.strip() for name in given.split(",") if name.strip())
    if not names:
        raise InvalidInput(f"no {what} is named: there are {', '.join(known)}")
    if names_all(given):
        return tuple(known)
    for name in names:
        if name not in known:
            raise InvalidInput(f"there is no {what} {name}{near(name, known)}: there are {', '.join(known)}")
    return tuple(names)


def names_all(given: str) -> bool:
    return _ALL in (name.strip() for name in given.split(","))


def near(name: str, known: Collection[str]) -> str:
    """To be put behind a name that is not known; empty where nothing is like it."""
    like = difflib.get_close_matches(name, known, n=2)
    return f" (did you mean {' or '.join(like)}?)" if like else ""
