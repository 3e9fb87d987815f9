"""Compile programs into the cache: those of the pinned module, and those of other modules beside it."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from devcluster.cache import cache_folder, cache_key, locked
from devcluster.errors import BuildError, with_log
from devcluster.golang import Go
from devcluster.module import MODULE_FOLDER, module_files, pinned_version
from devcluster.progress import timed
from devcluster.tools import TOOLS, Tool, kubernetes_stamps

# The same for every program: packages compiled for one are then taken over by the next.
_TAGS = "selinux,notest,grpcnotrace,remove_all_sd,netgo"
_ENVIRONMENT = {
    "CGO_ENABLED": "0",
    "GOTOOLCHAIN": "local",
    "GOFLAGS": "-trimpath -buildvcs=false -pgo=off -mod=readonly",
    "GOWORK": "off",
    "GOGC": "200",
}


@dataclass(frozen=True, slots=True)
class Program:
    """What the compiler is told."""

    name: str
    version: str
    package: str
    build_time: str
    stamps: tuple[str, ...] = ()
    subcommand: tuple[str, ...] = ("build",)
    """`test -c` for a package of tests."""


def built(tool: Tool, *, go: Go, module: Path = MODULE_FOLDER) -> Path:
    """The program from the cache, compiled first where the cache does not hold it.

    Raises:
        BuildError: it does not compile; names the log.
    """
    flags = [_linker_flags(each.stamps) for each in TOOLS.values()]
    key = _key(module_files(module), flags=flags, go=go)
    program = Program(tool.name, tool.version, tool.package, tool.build_time, tool.stamps)
    return _from_cache(program, key=key, go=go, module=module)


def built_beside(
    name: str, *, package: str, module: Path, build_time: str, go: Go, subcommand: tuple[str, ...] = ("build",)
) -> Path:
    """The program of a module of its own that uses Kubernetes' packages, compiled as those of `built` are.

    It is compiled again whenever a `.go` file of the module's folder, go.mod or go.sum changes.

    Raises:
        BuildError: it does not compile; names the log.
    """
    version = pinned_version("k8s.io/kubernetes", module)
    program = Program(name, version, package, build_time, kubernetes_stamps(version), subcommand)
    sources = (*module_files(module), *sorted(module.glob("*.go")))
    key = _key(sources, flags=[package, *subcommand, _linker_flags(program.stamps)], go=go)
    return _from_cache(program, key=key, go=go, module=module)


def _from_cache(program: Program, *, key: str, go: Go, module: Path) -> Path:
    folder = cache_folder() / "bin" / key
    path = folder / program.name
    if path.exists():
        return path
    # One build at a time: a second one would only compile the same packages beside the first.
    with locked(cache_folder() / "build.lock"):
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            with timed(f"building {program.name} {program.version} (first time: about {program.build_time})"):
                _compile(program, go=go, module=module, path=path)
    return path


def _key(files: Sequence[Path], *, flags: Sequence[str], go: Go) -> str:
    common = [_TAGS, *(f"{name}={value}" for name, value in _ENVIRONMENT.items())]
    return cache_key(module_files=files, flags=[*common, *flags], go_version=go.version)


def _linker_flags(stamps: Sequence[str]) -> str:
    return " ".join(["-s", "-w", *(f"-X {stamp}" for stamp in stamps)])


def _compile(program: Program, *, go: Go, module: Path, path: Path) -> None:
    log = cache_folder() / "logs" / f"build-{program.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}")
    command = [str(go.program), *program.subcommand, "-tags", _TAGS, "-ldflags", _linker_flags(program.stamps)]
    command += ["-o", str(unfinished), program.package]
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
        raise BuildError(with_log(f"{program.name} {program.version} does not compile", log))
    unfinished.replace(path)
