"""The cache folder outside the tree, and the lock that lets one process build at a time."""

import fcntl
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_folder() -> Path:
    """`$PLIMSOLL_CACHE`, else `plimsoll` in `$XDG_CACHE_HOME` or `~/.cache`."""
    own = os.environ.get("PLIMSOLL_CACHE")
    if own:
        return Path(own).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "plimsoll"


def cache_key(*, module_files: Iterable[Path], flags: Iterable[str], go_version: str) -> str:
    """What decides how the programs turn out: change any of it and they are built again."""
    digest = hashlib.sha256(go_version.encode())
    for path in module_files:
        digest.update(b"\0file\0" + path.name.encode() + b"\0" + path.read_bytes())
    for flag in flags:
        digest.update(b"\0flag\0" + flag.encode())
    return digest.hexdigest()[:16]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of this file; the system frees it when the holder dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
