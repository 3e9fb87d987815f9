import dataclasses
from pathlib import Path

import pytest

from devcluster import golang
from devcluster.building import built, built_beside
from devcluster.errors import BuildError
from devcluster.tools import TOOLS

pytestmark = pytest.mark.cluster


@pytest.mark.usefixtures("empty_cache")
def test_it_names_its_log_and_ends_with_what_the_compiler_said(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module example.invalid/broken\n\ngo 1.26\n")
    (tmp_path / "go.sum").write_text("")
    (tmp_path / "main.go").write_text("package main\n\nfunc main() { thisIsNotGo() }\n")
    tool = dataclasses.replace(TOOLS["etcd"], package="example.invalid/broken")
    with pytest.raises(BuildError) as caught:
        built(tool, go=golang.find(), module=tmp_path)
    assert "etcd v3.6.8 does not compile" in str(caught.value)
    assert str(tmp_path / "cache" / "logs" / "build-etcd.log") in str(caught.value)
    assert "undefined: thisIsNotGo" in str(caught.value)


def test_nothing_unfinished_is_taken_for_a_program(empty_cache: Path, tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module example.invalid/broken\n\ngo 1.26\n")
    (tmp_path / "go.sum").write_text("")
    with pytest.raises(BuildError):
        built(TOOLS["etcd"], go=golang.find(), module=tmp_path)
    assert not [path for path in (empty_cache / "bin").rglob("*") if path.is_file()]


def test_what_compiles_is_built_once(empty_cache: Path, tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text("module example.invalid/fine\n\ngo 1.26\n")
    (tmp_path / "go.sum").write_text("")
    (tmp_path / "main.go").write_text("package main\n\nfunc main() {}\n")
    tool = dataclasses.replace(TOOLS["etcd"], package="example.invalid/fine")
    program = built(tool, go=golang.find(), module=tmp_path)
    built_at = program.stat().st_mtime_ns
    assert built(tool, go=golang.find(), module=tmp_path).stat().st_mtime_ns == built_at
    assert program.is_relative_to(empty_cache)


@pytest.mark.usefixtures("empty_cache")
def test_a_module_beside_is_built_again_when_its_source_changes(tmp_path: Path) -> None:
    requirement = "require k8s.io/kubernetes v1.36.4\n"
    (tmp_path / "go.mod").write_text(f"module example.invalid/beside\n\ngo 1.26\n\n{requirement}")
    (tmp_path / "go.sum").write_text("")

    def build(body: str) -> Path:
        (tmp_path / "main.go").write_text(f"package main\n\nfunc main() {{{body}}}\n")
        return built_beside("beside", package=".", module=tmp_path, build_time="1 s", go=golang.find())

    first = build("")
    assert build("println()") != first
    assert build("") == first
