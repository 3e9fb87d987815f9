"""Who ends the processes, and when."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from devcluster import ClusterSpec, DevCluster, ProcessError, records
from devcluster.__main__ import main
from devcluster.folder import ClusterFolder

pytestmark = pytest.mark.cluster

OWNER = """
import pathlib, signal, sys, time
from devcluster import ClusterSpec, DevCluster
# A job in the background is started with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
cluster = DevCluster.start(ClusterSpec.of(1, controllers=False), directory=pathlib.Path(sys.argv[1]))
print("up", flush=True)
time.sleep(600)
"""


def all_ended(recorded: list[records.ProcessRecord], *, timeout_s: float = 15.0) -> bool:
    deadline = time.monotonic() + timeout_s
    while any(record.process() for record in recorded):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_survives_an_owner_that_is_killed(tmp_path: Path, signal_number: int) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    with owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"up\n"
        recorded = records.read_all(ClusterFolder(tmp_path).records)
        assert [record.name for record in recorded] == ["etcd", "kube-apiserver"]
        owner.send_signal(signal_number)
        owner.wait(30)
    assert all_ended(recorded)


def test_up_status_and_down_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = f"--dir={tmp_path}"
    try:
        assert main(["up", folder, "--nodes=2", "--no-controllers", "--zones=1"]) == 0
        assert f"export KUBECONFIG={tmp_path}/kubeconfig" in capsys.readouterr().out
        recorded = records.read_all(ClusterFolder(tmp_path).records)

        assert main(["status", folder]) == 0
        assert capsys.readouterr().out.count("healthy") == 2

        assert main(["up", folder]) == 1
        assert "a cluster runs in" in capsys.readouterr().err

        os.kill(recorded[-1].pid, signal.SIGKILL)
        assert all_ended(recorded[-1:])
        assert main(["status", folder]) == 1
        assert "not running" in capsys.readouterr().out
    finally:
        assert main(["down", folder]) == 0
    # Children of this very process, which it released.
    for record in recorded:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(record.pid, 0)
    assert all_ended(recorded)
    assert main(["down", folder]) == 0
    assert main(["status", folder]) == 1
    assert "no cluster in" in capsys.readouterr().err


def test_kubectl_by_the_command(full_cluster: DevCluster) -> None:
    command = [sys.executable, "-m", "devcluster", "kubectl", "--dir", str(full_cluster.directory)]
    answer = subprocess.run([*command, "get", "nodes", "-o", "name"], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["node/node-1", "node/node-2", "node/node-3"]


def test_a_process_that_does_not_start_is_named_with_its_log(tmp_path: Path) -> None:
    spec = ClusterSpec.of(1, controllers=False, apiserver_flags=["--no-such-flag"])
    with pytest.raises(ProcessError, match="kube-apiserver has ended") as caught:
        DevCluster.start(spec, directory=tmp_path)
    assert "unknown flag: --no-such-flag" in str(caught.value)
    assert str(tmp_path / "logs" / "kube-apiserver.log") in str(caught.value)
    assert not records.read_all(ClusterFolder(tmp_path).records)
