from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.files import existing, writable
from benchmarks.numbers import count, no_less, positive, whole
from benchmarks.throughput.results_file import ResultsFile


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (count, "0"),
        (count, "-5"),
        (count, "many"),
        (whole, "-1"),
        (whole, "1.5"),
        (positive, "0"),
        (positive, "nan"),
        (no_less, "-0.1"),
        (no_less, "inf"),
    ],
)
def test_a_number_that_means_nothing_is_named(kind: Callable[[str], float], text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=f"^{text} is "):
        kind(text)


@pytest.mark.parametrize(("kind", "text", "number"), [(count, "1", 1), (whole, "0", 0), (positive, "0.5", 0.5)])
def test_others_are_taken(kind: Callable[[str], float], text: str, number: float) -> None:
    assert kind(text) == number


@pytest.mark.parametrize("content", ["hello", '{"a":1}', '{"runs":[{"what":1}]}', "[]"])
def test_a_file_of_something_else_is_left_alone(content: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    path.write_text(content)
    with pytest.raises(SystemExit, match="does not hold runs of this benchmark: name another file"):
        ResultsFile(path, resume=True)
    assert path.read_text() == content


def test_files_are_looked_at_before_anything_is_measured(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("")
    assert existing(str(tmp_path / "there")) == writable(str(tmp_path / "there")) == tmp_path / "there"
    assert writable(str(tmp_path / "new")) == tmp_path / "new"
    for kind, name in ((existing, "new"), (existing, "."), (writable, "."), (writable, "none/new")):
        with pytest.raises(argparse.ArgumentTypeError, match=r"there is no (file|folder)|is a folder: name a file"):
            kind(str(tmp_path / name))
