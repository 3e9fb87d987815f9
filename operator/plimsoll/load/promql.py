"""How text and numbers are written in PromQL, so that data stays data.

Grammar: https://prometheus.io/docs/prometheus/latest/querying/basics/ (string literals follow Go's rules).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAMED_ESCAPES = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
_PLAIN_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*", re.ASCII)
_UNITS_MS = (("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1))


def string(text: str) -> str:
    """The text as a string literal, quotes included; whatever is in it, it ends where the literal ends."""
    return '"' + "".join(map(_escaped, text)) + '"'


def label(name: str) -> str:
    """A label's name; one that is no plain word is quoted, which Prometheus 3 reads."""
    return name if _PLAIN_LABEL.fullmatch(name) else string(name)


def by(names: Iterable[str]) -> str:
    """``by (a, b)``."""
    return f"by ({', '.join(map(label, names))})"


def duration(seconds: float) -> str:
    """The duration to the millisecond, e.g. ``1h30m``; at least ``1ms``."""
    left_ms = max(1, round(seconds * 1000))
    parts = []
    for unit, size_ms in _UNITS_MS:
        count, left_ms = divmod(left_ms, size_ms)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts)


def _escaped(character: str) -> str:
    if character in _NAMED_ESCAPES:
        return _NAMED_ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
