"""Compile a program of the pinned module into the cache."""

import os
import subprocess
from pathlib import Path

from devcluster.cache import cache_folder, cache_key, locked
from devcluster.errors import BuildError, with_log
from devcluster.golang import Go
from devcluster.module import MODULE_FOLDER, module_files
from devcluster.progress import timed
from devcluster.tools import TOOLS, Tool

# The same for every program: packages compiled for one are then taken over by the next.
_TAGS = "selinux,notest,grpcnotrace,remove_all_sd,netgo"
_ENVIRONMENT = {
    "CGO_ENABLED": "0",
    "GOTOOLCHAIN": "local",
    "GOFLAGS": "-trimpath -buildvcs=false -pgo=off -mod=readonly",
    "GOWORK": "off",
    "GOGC": "200",
}


def built(tool: Tool, *, go: Go, module: Path = MODULE_FOLDER) -> Path:
    """The program from the cache, compiled first where the cache does not hold it.

    Raises:
        BuildError: it does not compile; names the log.
    """
    folder = cache_folder() / "bin" / _key(go=go, module=module)
    program = folder / tool.name
    if program.exists():
        return program
    # One build at a time: a second one would only compile the same packages beside the first.
    with locked(cache_folder() / "build.lock"):
        if not program.exists():
            folder.mkdir(parents=True, exist_ok=True)
            with timed(f"building {tool.name} {tool.version} (first time: about {tool.build_time})"):
                _compile(tool, go=go, module=module, program=program)
    return program


def _key(*, go: Go, module: Path) -> str:
    flags = [_TAGS, *(f"{name}={value}" for name, value in _ENVIRONMENT.items())]
    flags += [_linker_flags(tool) for tool in TOOLS.values()]
    return cache_key(module_files=module_files(module), flags=flags, go_version=go.version)


def _linker_flags(tool: Tool) -> str:
    return " ".join(["-s", "-w", *(f"-X {stamp}" for stamp in tool.stamps)])


def _compile(tool: Tool, *, go: Go, module: Path, program: Path) -> None:
    log = cache_folder() / "logs" / f"build-{tool.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    unfinished = program.with_suffix(f".{os.getpid()}")
    command = [str(go.program), "build", "-tags", _TAGS, "-ldflags", _linker_flags(tool)]
    command += ["-o", str(unfinished), tool.package]
    with log.open("wb") as output:
        finished = subprocess.run(
            command,
            cwd=module,
            env={**os.environ, **_ENVIRONMENT},
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if finished.returncode != 0:
        unfinished.unlink(missing_ok=True)
        raise BuildError(with_log(f"{tool.name} {tool.version} does not compile", log))
    unfinished.replace(program)
