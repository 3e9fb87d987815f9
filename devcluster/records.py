"""Which processes a cluster has: one small file each, so that anyone can end them later."""

import contextlib
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

import psutil

# psutil derives the start time from the boot time, which follows small corrections of the clock.
# A pid cannot come round again within this time.
_CLOCK_CORRECTION_S = 1.0
_KILL_TIMEOUT_S = 5.0
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """A process by pid and start time: the pid alone may belong to a stranger by now."""

    name: str
    pid: int
    started_at: float

    @classmethod
    def of(cls, name: str, pid: int) -> Self:
        """The record of a process that runs now.

        Raises:
            psutil.NoSuchProcess: it has ended already.
        """
        return cls(name=name, pid=pid, started_at=psutil.Process(pid).create_time())

    def process(self) -> psutil.Process | None:
        """The process, if it still runs and is the one that was recorded."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.started_at) < _CLOCK_CORRECTION_S
            alive = process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return None
        return process if same and alive else None


def write(folder: Path, record: ProcessRecord) -> None:
    """Keep a record; atomically, since the watchdog may read at any moment."""
    unfinished = folder / f"{record.name}.unfinished"
    unfinished.write_text(json.dumps(asdict(record)))
    unfinished.replace(_file(folder, record.name))


def read(folder: Path, name: str) -> ProcessRecord | None:
    """The record of one name."""
    try:
        return ProcessRecord(**json.loads(_file(folder, name).read_text()))
    except FileNotFoundError:
        return None


def read_all(folder: Path) -> list[ProcessRecord]:
    """All records, in the order in which the processes were started."""
    found = (read(folder, path.stem) for path in folder.glob("*.json"))
    return sorted((record for record in found if record), key=lambda record: record.started_at)


def forget(folder: Path, name: str) -> None:
    """Remove a record."""
    _file(folder, name).unlink(missing_ok=True)


def end(recorded: Iterable[ProcessRecord], *, grace_s: float) -> None:
    """Terminate the processes one after the other; one that needs longer than `grace_s` is killed.

    One after the other, since a process that loses what it works on hangs instead of ending.
    """
    for record in recorded:
        _send(record, psutil.Process.terminate)
        if not _ends_within(record, timeout_s=grace_s):
            _send(record, psutil.Process.kill)
            _ends_within(record, timeout_s=_KILL_TIMEOUT_S)


def _send(record: ProcessRecord, signal: Callable[[psutil.Process], None]) -> None:
    process = record.process()
    if process is not None:
        with contextlib.suppress(psutil.NoSuchProcess):
            signal(process)


def _ends_within(record: ProcessRecord, *, timeout_s: float) -> bool:
    # psutil's own wait would wait for zombies, which stay where process 1 of a container does not reap.
    deadline = time.monotonic() + timeout_s
    while record.process() is not None:
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.json"
