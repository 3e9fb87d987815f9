"""The Dockerfile's install steps, run in an empty folder that stands for the image's root."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template

from uv import find_uv_bin

from tests.image.dockerfile import Dockerfile, Instruction, Stage, read
from tests.image.identity import Identity

REPOSITORY = Path(__file__).parents[2]
# What a machine needs to be told to reach the package registry at all.
_NETWORK = re.compile(
    r"(SSL_CERT_(FILE|DIR)|(HTTPS?|ALL|NO)_PROXY|UV_(DEFAULT_INDEX|INDEX|SYSTEM_CERTS))$", re.IGNORECASE
)

# What container runtimes set for a user without a name; and no folder for temporary files.
_AT_RUN_TIME = {"PATH": os.defpath, "HOME": "/", "TMPDIR": "/nonexistent"}


@dataclass(frozen=True, slots=True)
class Installation:
    """Plimsoll as the image has it.

    Attributes:
        root: stands for `/`.
        prefix: the environment, `/opt/plimsoll` in the image.
        entrypoint: the command line of the container without arguments, with `plimsoll` as a full path.
        command: what the container runs where no arguments are given.
        environment: all of the process's environment; HOME and TMPDIR are nowhere that could be written to.
        began_s: when the first step began, in seconds since the epoch.
    """

    root: Path
    prefix: Path
    entrypoint: tuple[str, ...]
    command: tuple[str, ...]
    environment: Mapping[str, str]
    identity: Identity
    began_s: float

    @property
    def executable(self) -> Path:
        """Path of `plimsoll`."""
        return self.prefix / "bin" / "plimsoll"

    @property
    def python(self) -> Path:
        return self.prefix / "bin" / "python"

    def run(self, *args: str, env: Mapping[str, str] | None = None, timeout_s: float = 60) -> Answer:
        """Run `plimsoll` with these arguments to its end."""
        return self.call(*self.entrypoint, *args, env=env, timeout_s=timeout_s)

    def call(self, *command: str, env: Mapping[str, str] | None = None, timeout_s: float = 60) -> Answer:
        """Run any command to its end, in the container's environment and as its user."""
        done = subprocess.run(
            command,
            env={**self.environment, **(env or {})},
            cwd="/",
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            **self.identity.options,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def start(
        self, *args: str, env: Mapping[str, str] | None = None, output: Path | None = None
    ) -> subprocess.Popen[str]:
        """Start `plimsoll` with these arguments; the caller ends it. Its output goes to the file, if given.

        A kubeconfig's certificates pass through temporary files in the official client, which stay behind where
        the process is killed; here they go with the installation. A service account needs none.
        """
        scratch = self.root / "scratch"
        scratch.mkdir(exist_ok=True)
        self.identity.own(scratch)
        with (output or Path(os.devnull)).open("w") as file:
            return subprocess.Popen(
                [*self.entrypoint, *args],
                env={**self.environment, "TMPDIR": str(scratch), **(env or {})},
                cwd="/",
                stdout=file,
                stderr=subprocess.STDOUT,
                text=True,
                **self.identity.options,
            )

    def lend(self, name: str, content: str) -> Path:
        """A file that the operator alone can read, e.g. a kubeconfig; pytest's own folders are closed to it."""
        path = self.root / "lent" / name
        path.parent.mkdir(exist_ok=True, mode=0o755)
        path.write_text(content)
        path.chmod(0o400)
        self.identity.own(path)
        return path


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str


@contextmanager
def installed(dockerfile: Dockerfile | None = None) -> Iterator[Installation]:
    """Run the `build` stage's steps from the repository as it is, as an unprivileged user, in a new folder.

    Raises:
        AssertionError: a step failed; says which, and with which words.
    """
    told = dockerfile or read()
    began_s = time.time()
    # Not pytest's folder: only its owner may enter that.
    with tempfile.TemporaryDirectory(prefix="plimsoll-image-") as name:
        root = Path(name)
        root.chmod(0o755)
        identity = Identity.unprivileged()
        replay = _Replay(root, identity)
        replay.build(told.stage("build"))
        prefix = root / "opt" / "plimsoll"
        identity.lock(prefix)
        yield Installation(
            root=root,
            prefix=prefix,
            entrypoint=(str(prefix / "bin" / "plimsoll"), *told.final.last("ENTRYPOINT").exec_form[1:]),
            command=tuple(told.final.last("CMD").exec_form),
            environment=replay.environment(told.final, base=_AT_RUN_TIME),
            identity=identity,
            began_s=began_s,
        )


class _Replay:
    """Runs a stage's instructions, with `root` for `/`."""

    def __init__(self, root: Path, identity: Identity) -> None:
        self._root = root
        self._identity = identity
        self._folder = root
        for name in ("home", "tmp"):
            self._make(root / name)

    def build(self, stage: Stage) -> None:
        self._make(self._at("/opt"))
        python = _interpreter(self._identity)
        path = [str(self._at("/usr/local/bin")), str(Path(python).parent), os.defpath]
        base = {name: value for name, value in os.environ.items() if _NETWORK.match(name)}
        base |= {"PATH": os.pathsep.join(path), "UV_PYTHON": python}
        base |= {"HOME": str(self._root / "home"), "TMPDIR": str(self._root / "tmp")}
        environment = self.environment(stage, base=base)
        for instruction in stage.instructions:
            match instruction.keyword:
                case "WORKDIR":
                    self._folder = self._at(instruction.value)
                    self._make(self._folder)
                case "COPY":
                    self._copy(instruction)
                case "RUN":
                    self._run(instruction, environment)
                case "ENV":
                    pass  # in `environment` already
                case other:
                    raise AssertionError(f"the tests cannot replay {other}: teach tests/image/installation.py")

    def environment(self, stage: Stage, *, base: Mapping[str, str]) -> dict[str, str]:
        """The base with what the stage sets, its paths moved below the root."""
        environment = dict(base)
        for instruction in stage.all("ENV"):
            for name, value in instruction.pairs.items():
                moved = os.pathsep.join(
                    str(self._at(part)) if part.startswith("/") else part for part in value.split(os.pathsep)
                )
                environment[name] = Template(moved).substitute(environment)
        return environment

    def _copy(self, instruction: Instruction) -> None:
        *sources, target = instruction.words
        if sources[0].startswith("--from="):
            # The test's own uv for the other image's: the lock file pins both to one version.
            sources = [find_uv_bin()]
        destination = self._at(target)
        for source in (REPOSITORY / name for name in sources):
            if source.is_dir():
                shutil.copytree(source, destination, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                to = destination / source.name if target.endswith("/") else destination
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, to)
        self._identity.own(self._root)

    def _run(self, instruction: Instruction, environment: Mapping[str, str]) -> None:
        done = subprocess.run(
            ["/bin/sh", "-c", instruction.value],
            cwd=self._folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            **self._identity.options,
        )
        assert done.returncode == 0, f"RUN {instruction.value} ended with {done.returncode}:\n{done.stdout}"

    def _at(self, path: str) -> Path:
        """Where a path of the image is; relative ones start from the current WORKDIR."""
        return self._root / path.lstrip("/") if path.startswith("/") else self._folder / path

    def _make(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._identity.own(folder)


def _interpreter(identity: Identity) -> str:
    """A Python that the unprivileged user can start; root's own may lie in a closed folder."""
    names = (f"python3.{minor}" for minor in range(14, 10, -1))
    folders = (os.environ.get("PATH"), os.defpath)
    found = (shutil.which(name, path=path) for name in (*names, "python3") for path in folders)
    candidates = [str(Path(sys.base_prefix) / "bin" / "python3"), *filter(None, found)]
    usable = (candidate for candidate in candidates if _can_start(candidate, identity))
    if (first := next(usable, None)) is None:
        raise AssertionError(
            f"uid {identity.number} can start no Python of at least 3.11 (tried {', '.join(candidates)}): "
            "install one where everybody may read it, as the system's package does"
        )
    return first


def _can_start(python: str, identity: Identity) -> bool:
    check = "import sys; sys.exit(sys.version_info < (3, 11) or sys.prefix != sys.base_prefix)"
    try:
        done = subprocess.run([python, "-c", check], cwd="/", check=False, capture_output=True, **identity.options)
    except OSError:
        return False
    return done.returncode == 0
