from collections.abc import Callable
from pathlib import Path

import pytest

from devcluster import golang
from devcluster.binaries import find_installed
from devcluster.errors import ToolchainError
from devcluster.module import needed_go
from devcluster.tools import TOOLS
from devcluster.versions import parse

InstallFake = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstallFake:
    """Puts a program that says its version in a folder, which is the only one on the PATH."""
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))

    def fake(name: str, *, says: str, folder: str = "path") -> Path:
        program = tmp_path / folder / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\necho '{says}'\n")
        program.chmod(0o755)
        return program

    return fake


@pytest.mark.parametrize(
    ("name", "says"),
    [
        pytest.param("etcd", "etcd Version: 3.5.13", id="the first etcd that can stream lists"),
        pytest.param("etcd", "etcd Version: 3.6.8", id="ours"),
        pytest.param("kube-apiserver", "Kubernetes v1.36.9", id="any patch of the minor"),
        pytest.param("kubectl", "Client Version: v1.36.1\nKustomize Version: v5.7.1", id="the first version counts"),
        pytest.param("kwok", "kwok version v0.8.0 go1.26.8 (linux/amd64)", id="kwok"),
        pytest.param("prometheus", "prometheus, version 2.42.0+ds (branch: debian/sid)", id="an older Prometheus"),
        pytest.param("helm", "v4.2.4+gabc", id="helm 4"),
    ],
)
def test_a_fitting_program_on_the_path_is_taken(install: InstallFake, name: str, says: str) -> None:
    assert find_installed(TOOLS[name]) is None
    program = install(name, says=says)
    assert find_installed(TOOLS[name]) == program


@pytest.mark.parametrize(
    ("name", "says"),
    [
        pytest.param("etcd", "etcd Version: 3.4.23", id="an etcd without streamed lists"),
        pytest.param("kube-apiserver", "Kubernetes v1.37.0", id="another minor"),
        pytest.param("kube-apiserver", "Kubernetes v0.0.0-master+$Format:%H$", id="an unstamped build"),
        pytest.param("helm", "v3.21.4", id="helm 3"),
        pytest.param("kwok", "kwok version unknown", id="no version at all"),
    ],
)
def test_a_program_that_does_not_fit_is_left(install: InstallFake, name: str, says: str) -> None:
    install(name, says=says)
    assert find_installed(TOOLS[name]) is None


def test_the_folder_of_envtest_comes_first(
    install: InstallFake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("etcd", says="etcd Version: 3.6.0")
    assets = install("etcd", says="etcd Version: 3.6.1", folder="assets")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path / "assets"))
    assert find_installed(TOOLS["etcd"]) == assets


def test_every_program_is_pinned_by_the_module() -> None:
    assert all(parse(tool.version) for tool in TOOLS.values())


def test_what_is_built_says_a_version_that_fits() -> None:
    stamped = {name: tool.stamps[0].split("=")[1] for name, tool in TOOLS.items() if tool.stamps}
    assert stamped["prometheus"] == "3.15.0"
    assert all(TOOLS[name].fitting.fits(parse(version)) for name, version in stamped.items())


@pytest.mark.usefixtures("empty_cache")
def test_a_go_that_is_too_old_is_not_used_and_a_missing_one_is_named(
    install: InstallFake, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("go", says="go version go1.19.8 linux/amd64")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(ToolchainError, match=r"Go 1\.26\.4 or newer"):
        golang.find()


@pytest.mark.usefixtures("empty_cache")
def test_a_go_on_the_path_is_used(install: InstallFake) -> None:
    program = install("go", says="go version go1.30.0 linux/amd64")
    assert needed_go() < (1, 30, 0)
    assert golang.find() == golang.Go(program, "1.30.0")
