"""Files that ``plimsoll simulate`` writes, checked before anything is replayed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from plimsoll.errors import InvalidInput


def check_outputs(*, read: Mapping[str, Path | None], written: Mapping[str, Path | None]) -> None:
    """By option, e.g. ``--json``; None where it was not given.

    Raises:
        InvalidInput: there is no folder for a file, or it is another one that is read or written.
    """
    seen: dict[object, str] = {_identity(path): option for option, path in read.items() if path is not None}
    for option, path in written.items():
        if path is None:
            continue
        if option != "--resume" and not path.parent.is_dir():
            raise InvalidInput(f"cannot write {path}: there is no folder {path.parent}")
        if path.exists() and not path.is_file():
            continue
        other = seen.setdefault(_identity(path), option)
        if other != option:
            raise InvalidInput(f"{other} and {option} are the same file, {path}: give {option} a file of its own")


def _identity(path: Path) -> object:
    """The same for one file under several names; a file that is not there yet has its path alone."""
    try:
        found = path.stat()
    except OSError:
        return path.resolve()
    return found.st_dev, found.st_ino
