"""The install steps, run for real: what they leave, and that it starts with nowhere to write."""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import plimsoll
from tests.image.identity import NUMBER
from tests.image.installation import REPOSITORY, Installation

# Where anybody may write.
_OPEN_FOLDERS = {tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm", "/run/lock"}
_DISTRIBUTIONS = """
import importlib.metadata, json
print(json.dumps({found.name.lower(): found.version for found in importlib.metadata.distributions()}))
"""
_IMPORT_ALL = """
import importlib, pkgutil, plimsoll
names = [found.name for found in pkgutil.walk_packages(plimsoll.__path__, "plimsoll.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(len(names))
"""


pytestmark = pytest.mark.slow


def test_the_command_tells_the_packages_version(installed_plimsoll: Installation):
    answer = installed_plimsoll.run("--version")

    assert answer.code == 0, answer.err
    assert plimsoll.__version__ in answer.out


def test_every_module_finds_what_it_imports(installed_plimsoll: Installation):
    answer = installed_plimsoll.call(str(installed_plimsoll.python), "-c", _IMPORT_ALL)

    assert answer.code == 0, answer.err
    assert int(answer.out) > 20


def test_without_a_cluster_the_container_says_what_it_lacks(installed_plimsoll: Installation):
    answer = installed_plimsoll.run(*installed_plimsoll.command)

    assert answer.code not in {0, None}
    assert "kubeconfig" in answer.out + answer.err
    assert "Traceback" not in answer.out + answer.err


def test_versions_are_those_of_the_lock_file_and_developers_tools_are_absent(installed_plimsoll: Installation):
    locked = tomllib.loads((REPOSITORY / "uv.lock").read_text())["package"]
    versions = {(package["name"], package.get("version", plimsoll.__version__)) for package in locked}
    found = _distributions(installed_plimsoll)

    assert {(name.replace("_", "-"), version) for name, version in found.items()} <= versions
    assert {"plimsoll-scheduler", "kopf", "kubernetes", "numpy", "uvloop"} <= found.keys()
    assert not found.keys() & {"pytest", "hypothesis", "ruff", "mypy", "import-linter", "psutil", "uv", "pip"}


def test_the_package_is_in_the_environment_and_compiled(installed_plimsoll: Installation):
    (package,) = installed_plimsoll.prefix.glob("lib/python3.*/site-packages/plimsoll")
    sources = list(package.rglob("*.py"))

    assert sources
    for source in sources:
        assert list((source.parent / "__pycache__").glob(f"{source.stem}.*.pyc")), source


def test_it_starts_where_nothing_can_be_written(installed_plimsoll: Installation):
    before = _files(installed_plimsoll.root)
    commands = [installed_plimsoll.run("run", "--help"), installed_plimsoll.run("explain", "--help")]
    commands += [installed_plimsoll.call(str(installed_plimsoll.python), "-c", _IMPORT_ALL)]

    assert [answer.code for answer in commands] == [0, 0, 0], [answer.err for answer in commands]
    assert _files(installed_plimsoll.root) == before


def test_neither_installing_nor_starting_writes_elsewhere(installed_plimsoll: Installation):
    if not installed_plimsoll.identity.switched:
        pytest.skip("only root can run the steps as somebody who owns nothing else")
    installed_plimsoll.run("run", "--help")

    assert _written_outside(installed_plimsoll) == []


def _distributions(installation: Installation) -> dict[str, str]:
    answer = installation.call(str(installation.python), "-c", _DISTRIBUTIONS)
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    assert isinstance(found, dict)
    return found


def _files(folder: Path) -> dict[str, int]:
    return {str(path): path.lstat().st_mtime_ns for path in folder.rglob("*")}


def _written_outside(installation: Installation) -> list[str]:
    folders = {Path(folder).resolve() for folder in _OPEN_FOLDERS if Path(folder).is_dir()}
    found = (path for folder in folders for path in _written_below(folder, since_s=installation.began_s))
    return sorted(str(path) for path in found if not path.is_relative_to(installation.root))


def _written_below(folder: Path, *, since_s: float) -> Iterator[Path]:
    for path, _, files in os.walk(folder):
        for entry in (Path(path), *(Path(path, name) for name in files)):
            try:
                status = entry.lstat()
            except FileNotFoundError:
                continue  # somebody else's, and gone by now
            if status.st_uid == NUMBER and status.st_ctime >= since_s:
                yield entry
