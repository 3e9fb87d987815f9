"""Of everything that takes part."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
from functools import cache
from importlib.metadata import version
from pathlib import Path

import plimsoll
from devcluster import binaries

COMMIT = "commit"
_MODEL = "model name"
_ROOT = Path(__file__).resolve().parent.parent.parent


@cache
def versions() -> dict[str, str]:
    return {
        "plimsoll": plimsoll.__version__,
        **_commit(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        **{package: version(package) for package in ("kopf", "aiohttp", "uvloop", "orjson", "numpy")},
        **{program: _of(program, "--version") for program in ("kube-apiserver", "kube-scheduler", "etcd")},
        "kernel": platform.release(),
        "cpus": f"{os.cpu_count()}, {_model()}",
    }


def _commit() -> dict[str, str]:
    """Nothing where this is no clone, or there is no git."""
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        command = ("git", "-C", str(_ROOT), "describe", "--always", "--dirty", "--exclude=*")
        return {COMMIT: subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()}
    return {}


def _of(program: str, flag: str) -> str:
    """The last word of the first line."""
    answer = subprocess.run([binaries.ensure(program), flag], capture_output=True, text=True, check=True)
    return answer.stdout.splitlines()[0].split()[-1]


def _model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(_MODEL)), platform.machine())
