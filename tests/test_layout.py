"""The house stands as docs/architecture.md draws it."""

from __future__ import annotations

import operator
import subprocess
import sys
from pathlib import Path

import plimsoll

ROOT = Path(__file__).parent.parent


def test_the_source_root_is_no_package() -> None:
    """It would stand before the standard library's ``operator``."""
    assert not (ROOT / "operator" / "__init__.py").exists()


def test_operator_is_the_standard_librarys() -> None:
    assert operator.attrgetter("__name__")(operator) == "operator"
    assert not str(operator.__file__).startswith(str(ROOT))


def test_it_is_so_with_the_repository_first_on_the_path() -> None:
    code = "import operator; print(operator.__file__); import plimsoll"
    environment = {"PYTHONPATH": f"{ROOT}:{ROOT / 'operator'}"}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert not run.stdout.startswith(str(ROOT))


def test_plimsoll_comes_from_the_source_root() -> None:
    assert Path(str(plimsoll.__file__)).parent == ROOT / "operator" / "plimsoll"


def test_rooms_import_only_rooms_below_them() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_tests_are_no_package() -> None:
    """They are imported by path, so that two rooms may have tests of one name."""
    assert not list((ROOT / "tests").rglob("__init__.py"))
