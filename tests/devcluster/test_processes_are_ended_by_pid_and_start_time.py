import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from devcluster import records
from devcluster.records import ProcessRecord
from devcluster.watchdog import Watchdog

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
OBEDIENT = "import time; print(flush=True); time.sleep(60)"


class Child:
    def __init__(self, program: str) -> None:
        self.process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self.process.stdout.readline()

    def record(self, name: str = "child") -> ProcessRecord:
        return ProcessRecord.of(name, self.process.pid)

    def runs(self) -> bool:
        return self.process.poll() is None


@pytest.fixture
def child() -> Iterator[Child]:
    child = Child(OBEDIENT)
    with child.process:
        yield child
        child.process.kill()


@pytest.fixture
def stubborn_child() -> Iterator[Child]:
    child = Child(STUBBORN)
    with child.process:
        yield child
        child.process.kill()


def test_a_recorded_process_is_ended(child: Child) -> None:
    records.end([child.record()], grace_s=5)
    assert not child.runs()


def test_a_process_that_does_not_listen_is_killed(stubborn_child: Child) -> None:
    records.end([stubborn_child.record()], grace_s=0.2)
    assert not stubborn_child.runs()


def test_a_stranger_with_a_reused_pid_is_left_alone(child: Child) -> None:
    earlier = replace(child.record(), started_at=child.record().started_at - 60)
    assert earlier.process() is None
    records.end([earlier], grace_s=5)
    assert child.runs()


def test_a_process_that_nobody_waited_for_counts_as_ended(child: Child) -> None:
    record = child.record()
    child.process.kill()
    records.end([record], grace_s=5)
    assert record.process() is None


def test_records_are_read_in_the_order_of_starting(tmp_path: Path) -> None:
    for name, started_at in (("b", 1.0), ("c", 3.0), ("a", 2.0)):
        records.write(tmp_path, ProcessRecord(name=name, pid=1, started_at=started_at))
    assert [record.name for record in records.read_all(tmp_path)] == ["b", "a", "c"]
    records.forget(tmp_path, "a")
    assert records.read(tmp_path, "a") is None


def test_the_watchdog_ends_processes_when_its_pipe_closes(tmp_path: Path, child: Child) -> None:
    records.write(tmp_path, child.record())
    Watchdog.start(tmp_path).close()
    assert not child.runs()


def test_a_released_watchdog_leaves_them(tmp_path: Path, child: Child) -> None:
    records.write(tmp_path, child.record())
    Watchdog.start(tmp_path).release()
    assert child.runs()
