from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

_QUIET = {"HOME": "/nonexistent", "PATH": os.environ["PATH"]}


def _run(*flags: str, environ: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "plimsoll", "run", "--metrics-address", "127.0.0.1:0", "--log-level", "error", *flags]
    return subprocess.run(argv, env=_QUIET | (environ or {}), capture_output=True, text=True, timeout=60, check=False)


def _unreachable(folder: Path) -> Path:
    path = folder / "kubeconfig"
    path.write_text(
        "{clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}], users: [{name: u, user: {token: secret}}],"
        " contexts: [{name: c, context: {cluster: c, user: u}}], current-context: c}"
    )
    return path


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        pytest.param(["--kubeconfig", "/no/such/file"], "kubeconfig /no/such/file does not exist", id="no kubeconfig"),
        pytest.param([], "name a file with --kubeconfig or KUBECONFIG", id="nothing to go by"),
        pytest.param(["--scheduler-name", "A B"], "--scheduler-name", id="bad flag"),
        pytest.param(["--lease-duration", "1"], "--lease-duration must be longer", id="flags that do not fit"),
    ],
)
def test_what_keeps_it_from_starting_is_one_line_and_exit_code_1(flags: list[str], words: str) -> None:
    done = _run(*flags)
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_kubeconfig_that_is_no_yaml_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("{unclosed: [")
    done = _run("--kubeconfig", str(tmp_path / "config"))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert str(tmp_path / "config") in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_api_server_that_does_not_answer_is_given_up_after_the_time_that_was_set(tmp_path: Path) -> None:
    began_s = time.monotonic()
    done = _run("--kubeconfig", str(_unreachable(tmp_path)), "--startup-timeout", "1")
    assert done.returncode == 1
    assert 1 <= time.monotonic() - began_s < 20
    assert "Error: API server http://127.0.0.1:1" in done.stderr
    assert "cannot be reached" in done.stderr
    assert "secret" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_every_flag_is_an_environment_variable(tmp_path: Path) -> None:
    environ = {"PLIMSOLL_KUBECONFIG": str(_unreachable(tmp_path)), "PLIMSOLL_STARTUP_TIMEOUT": "0"}
    done = _run(environ=environ)
    assert done.returncode == 1
    assert "API server http://127.0.0.1:1" in done.stderr


def test_the_waiting_is_told_while_it_lasts(tmp_path: Path) -> None:
    done = _run("--kubeconfig", str(_unreachable(tmp_path)), "--startup-timeout", "1", "--log-level", "warning",
                "--log-format", "text")  # fmt: skip
    assert "cannot be reached" in done.stderr.splitlines()[0]
    assert "trying again" in done.stderr.splitlines()[0]


def test_sigterm_ends_the_waiting_at_once(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "plimsoll", "run", "--kubeconfig", str(_unreachable(tmp_path)),
            "--metrics-address", "127.0.0.1:0"]  # fmt: skip
    with subprocess.Popen(argv, env=_QUIET, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        while "trying again" not in process.stderr.readline():
            assert process.poll() is None
        began_s = time.monotonic()
        process.terminate()
        process.communicate(timeout=10)
    assert process.returncode == 0
    assert time.monotonic() - began_s < 5
