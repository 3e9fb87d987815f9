from pathlib import Path

import pytest

from devcluster.cache import cache_folder, cache_key


@pytest.fixture
def module_files(tmp_path: Path) -> list[Path]:
    files = [tmp_path / "go.mod", tmp_path / "go.sum"]
    for path in files:
        path.write_text(f"content of {path.name}")
    return files


def key(files: list[Path], *, flags: tuple[str, ...] = ("-s", "-w"), go_version: str = "1.26.8") -> str:
    return cache_key(module_files=files, flags=flags, go_version=go_version)


def test_the_same_modules_flags_and_go_share_a_folder(module_files: list[Path]) -> None:
    assert key(module_files) == key(module_files)


@pytest.mark.parametrize("name", ["go.mod", "go.sum"])
def test_a_changed_module_file_is_built_again(module_files: list[Path], name: str) -> None:
    before = key(module_files)
    next(path for path in module_files if path.name == name).write_text("a newer version")
    assert key(module_files) != before


def test_changed_flags_are_built_again(module_files: list[Path]) -> None:
    assert key(module_files, flags=("-s",)) != key(module_files)
    assert key(module_files, flags=("-s-w",)) != key(module_files)


def test_another_go_builds_again(module_files: list[Path]) -> None:
    assert key(module_files, go_version="1.27.0") != key(module_files)


@pytest.mark.parametrize(
    ("variables", "want"),
    [
        pytest.param({"PLIMSOLL_CACHE": "/own", "XDG_CACHE_HOME": "/xdg"}, "/own", id="our own variable first"),
        pytest.param({"XDG_CACHE_HOME": "/xdg"}, "/xdg/plimsoll", id="then the desktop's"),
        pytest.param({"HOME": "/somewhere"}, "/somewhere/.cache/plimsoll", id="then the home folder"),
    ],
)
def test_the_cache_lies_outside_the_tree(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], want: str) -> None:
    for name in ("PLIMSOLL_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(want)
