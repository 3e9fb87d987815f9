"""A replay that is told to stop shows and keeps what it has done."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from plimsoll.cli.simulate_stops import Terminated, exit_code, sigterm_stops


def _terminate_twice() -> None:
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    finally:
        os.kill(os.getpid(), signal.SIGTERM)


def test_sigterm_is_raised_once_and_only_within():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Terminated), sigterm_stops():
        _terminate_twice()
    assert signal.getsignal(signal.SIGTERM) is before


def test_exit_codes_are_those_of_shells():
    assert (exit_code(KeyboardInterrupt()), exit_code(Terminated())) == (130, 143)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "code", "says"), [(signal.SIGTERM, 143, "Terminated: "), (signal.SIGINT, 130, "Interrupted: ")]
)
def test_what_was_done_is_shown_and_kept(tmp_path, sent, code, says):
    results, report = tmp_path / "results.jsonl", tmp_path / "out.json"
    arguments = ("simulate", "--policies", "kube,random", "--processes", "2", "--resume", str(results))
    process = subprocess.Popen(
        [sys.executable, "-c", "from plimsoll.cli import main; main()", *arguments, "--json", str(report)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Whoever runs the tests in the background ignores SIGINT, and children inherit that.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no threads here
    )
    while process.poll() is None and not results.exists():
        time.sleep(0.05)
    process.send_signal(sent)
    shown, told = process.communicate()
    assert process.returncode == code, told
    assert says in told
    assert "leaked" not in told
    assert "Traceback" not in told
    assert "unserved" in shown
    assert results.read_text().endswith("\n")
    assert json.loads(report.read_text())["complete"] is False
