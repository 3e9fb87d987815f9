"""What results depend on, as one word: results of other code or of other traces are never mixed with these."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import plimsoll
from plimsoll.errors import InvalidInput

_PACKAGE = Path(plimsoll.__file__).parent
# Rooms that no replay can reach, and what only shows results.
_APART = ("cli", "kube", "runtime", "sources", "sim/report")


def sha256(path: Path) -> str:
    """Raises:
    InvalidInput: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error


def fingerprint(inputs: Iterable[str]) -> str:
    """Of the package's version and code, and of whatever else went in, in this order."""
    whole = hashlib.sha256(plimsoll.__version__.encode())
    for path in _code():
        whole.update(path.relative_to(_PACKAGE).as_posix().encode())
        whole.update(path.read_bytes())
    for text in inputs:
        whole.update(b"\0" + text.encode())
    return whole.hexdigest()[:16]


def _code() -> list[Path]:
    apart = tuple(_PACKAGE / room for room in _APART)
    files = (*_PACKAGE.rglob("*.py"), *_PACKAGE.rglob("*.yaml"))
    return sorted(path for path in files if not any(path.is_relative_to(room) for room in apart))
