"""Resident memory of this process."""

from __future__ import annotations

import os
from pathlib import Path


def resident_mib(pid: int | None = None) -> float:
    """Of another process by its id."""
    pages = int(Path(f"/proc/{pid or os.getpid()}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
