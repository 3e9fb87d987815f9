"""Files that are read, and files that hold something else, are not written to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_FEW = ("--policies", "random", "--seeds", "1")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("--arrivals", "--resume"),
        ("--nodes", "--json"),
        ("--policy", "--html"),
        ("--resume", "--json"),
        ("--json", "--html"),
    ],
)
def test_a_file_has_one_use(plimsoll, tmp_path, one, other):
    path = tmp_path / "file"
    path.write_text("mine")
    result = plimsoll("simulate", "--policies", "ours", "--seeds", "1", one, str(path), other, str(path))
    assert result.exit_code == 2
    assert f"{one} and {other} are the same file" in result.stderr
    assert path.read_text() == "mine"


def test_a_file_that_is_not_there_yet_has_one_use_too(plimsoll, tmp_path):
    path, same = tmp_path / "out", tmp_path / ".." / tmp_path.name / "out"
    result = plimsoll("simulate", *_FEW, "--resume", str(path), "--json", str(same))
    assert result.exit_code == 2
    assert "--resume and --json are the same file" in result.stderr
    assert not path.exists()


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to], ids=["symbolic", "hard"])
def test_a_file_under_another_name_is_the_same(plimsoll, tmp_path, link):
    path, second = tmp_path / "nodes.csv", tmp_path / "out.json"
    path.write_text("cpu_milli,memory_mib\n1000,1024\n")
    link(second, path)
    result = plimsoll("simulate", *_FEW, "--nodes", str(path), "--json", str(second))
    assert result.exit_code == 2
    assert "--nodes and --json are the same file" in result.stderr


@pytest.mark.parametrize("text", ["vm,cores\n1,2\n", '{\n "schemaVersion": 1\n}\n'], ids=["csv", "json"])
def test_resume_leaves_what_is_no_file_of_results(plimsoll, tmp_path, text):
    path = tmp_path / "kept"
    path.write_text(text)
    result = plimsoll("simulate", *_FEW, "--resume", str(path))
    assert result.exit_code == 2
    assert "it holds no results but something else: name another file" in result.stderr
    assert path.read_text() == text


def test_what_nobody_keeps_may_be_written_twice():
    from plimsoll.cli.simulate_files import check_outputs

    nowhere = Path(os.devnull)
    check_outputs(read={}, written={"--json": nowhere, "--html": nowhere})
