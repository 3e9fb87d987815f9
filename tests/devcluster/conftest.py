from collections.abc import Iterator
from pathlib import Path

import pytest

from devcluster import ClusterSpec, DevCluster, binaries, golang


@pytest.fixture(scope="session")
def full_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevCluster]:
    """Three nodes with everything that a cluster can have."""
    spec = ClusterSpec.of(3, prometheus=True, metrics_server=True, audit=True, scrape_interval_s=1.0)
    with DevCluster.start(spec, directory=tmp_path_factory.mktemp("full")) as cluster:
        yield cluster


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache in which nothing was built, and nothing remembered of earlier answers."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("PLIMSOLL_CACHE", str(folder))
    binaries.ensure.cache_clear()
    golang.find.cache_clear()
    yield folder
    binaries.ensure.cache_clear()
    golang.find.cache_clear()
