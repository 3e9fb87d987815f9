"""End a cluster's processes when their owner is gone, however it went.

The owner holds the write end of the pipe that is this program's standard input. Whatever ends the
owner, SIGKILL included, closes that end; the watchdog then ends all recorded processes, newest
first. An owner that wants its processes to survive (`up`) says so with one byte.
"""

import subprocess
import sys
from pathlib import Path
from typing import Self

from devcluster import records
from devcluster.python import module_command, module_environment

_RELEASE = b"r"
_GRACE_S = 2.0


class Watchdog:
    """The owner's side."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    @classmethod
    def start(cls, folder: Path) -> Self:
        """Start to watch over the processes that are recorded in a folder."""
        # A session of its own: the Ctrl-C that ends the owner must not end the watchdog too.
        process = subprocess.Popen(
            module_command("devcluster.watchdog", str(folder)),
            env=module_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return cls(process)

    def release(self) -> None:
        """Let the processes live on without an owner."""
        self._process.communicate(_RELEASE)

    def close(self) -> None:
        """Have it end what still runs, and wait for it."""
        self._process.communicate()


def watch(folder: Path) -> None:
    """Wait for the owner's last word, and end the processes if there is none."""
    if sys.stdin.buffer.read(1) != _RELEASE:
        records.end(records.read_all(folder)[::-1], grace_s=_GRACE_S)


if __name__ == "__main__":
    watch(Path(sys.argv[1]))
