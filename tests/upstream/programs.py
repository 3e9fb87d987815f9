"""Kubernetes' own end-to-end tests, compiled from the release that the control plane is made of."""

from __future__ import annotations

from pathlib import Path

from devcluster import golang
from devcluster.building import built_beside

_MODULE = Path(__file__).parent / "e2e"


def e2e_test() -> Path:
    """`e2e.test`, as Kubernetes publishes it; compiled where the cache does not hold it."""
    return built_beside(
        "e2e.test",
        package="k8s.io/kubernetes/test/e2e",
        module=_MODULE,
        build_time="8 min",
        go=golang.find(),
        subcommand=("test", "-c"),
    )
