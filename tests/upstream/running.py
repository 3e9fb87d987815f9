"""Run the specs against one cluster."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.upstream.results import Result, read

FOCUS = r"\[sig-scheduling\] Scheduler(Predicates|Preemption|Priorities)"
# The first needs a kubelet that lets pods take their time to end, the others clouds and features that are off.
SKIP = "async preemption|Multi-AZ|GangScheduling"


class SpecsDidNotRunError(Exception):
    """The tests ended without a report."""


def run(program: Path, *, kubeconfig: Path, nodes: int, folder: Path, focus: str, skip: str) -> dict[str, Result]:
    """Every spec's result; the folder holds the log, and the report as JUnit.

    Raises:
        SpecsDidNotRunError: names the log.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for report in folder.glob("junit_*.xml"):
        report.unlink()  # of the run before
    log = folder / "e2e.log"
    with log.open("wb") as output:
        subprocess.run(
            _command(program, kubeconfig=kubeconfig, nodes=nodes, folder=folder, focus=focus, skip=skip),
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    reports = sorted(folder.glob("junit_*.xml"))
    if not reports:
        raise SpecsDidNotRunError(f"the tests ended without a report; see {log}")
    return read(reports[0])


def _command(program: Path, *, kubeconfig: Path, nodes: int, folder: Path, focus: str, skip: str) -> list[str]:
    return [
        str(program),
        f"--kubeconfig={kubeconfig}",
        "--provider=skeleton",
        f"--num-nodes={nodes}",
        "--allowed-not-ready-nodes=-1",
        f"--ginkgo.focus={focus}",
        f"--ginkgo.skip={skip}",
        "--ginkgo.timeout=2h",
        "--ginkgo.no-color",
        "--ginkgo.v",
        f"--report-dir={folder}",
        "--dump-logs-on-failure=false",
        "--disable-log-dump",
    ]
