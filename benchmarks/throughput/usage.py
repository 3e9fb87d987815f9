"""What a process has used, from the kernel."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import psutil

_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


class Usage(NamedTuple):
    """CPU in seconds, user and system, since the process began; resident memory in bytes."""

    cpu_s: float
    rss_bytes: int
    peak_rss_bytes: int


def usage(pid: int) -> Usage:
    process = psutil.Process(pid)
    with process.oneshot():
        times = process.cpu_times()
        rss_bytes = process.memory_info().rss
    return Usage(times.user + times.system, rss_bytes, _peak_bytes(pid) or rss_bytes)


def _peak_bytes(pid: int) -> int:
    """0 where the kernel does not say."""
    status = Path(f"/proc/{pid}/status")
    found = _PEAK.search(status.read_text()) if status.exists() else None
    return int(found[1]) * 1024 if found else 0
