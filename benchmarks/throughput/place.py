"""A fresh control plane for one run: etcd and the API server, alone."""

from __future__ import annotations

import contextlib
import re
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from devcluster import ClusterSpec, DevCluster
from devcluster.api import admin_context
from devcluster.pki import Pki

# Else the API server, and not the scheduler, is what limits 64 connections.
API_SERVER_FLAGS = ("--max-requests-inflight=2000", "--max-mutating-requests-inflight=2000")
_PORT = re.compile(r"(?<=127\.0\.0\.1:)\d+|(?<=-port=)\d+")


@dataclass(frozen=True, slots=True)
class Place:
    """Where one run happens. Everybody is the administrator: whom the API server trusts costs it the same."""

    cluster: DevCluster

    @property
    def server(self) -> str:
        return self.cluster.server

    @property
    def kubeconfig(self) -> Path:
        return self.cluster.kubeconfig

    @property
    def pki(self) -> Pki:
        return Pki(self.cluster.directory / "pki")

    @property
    def folder(self) -> Path:
        """Gone when the control plane is."""
        return self.cluster.directory / "data"

    @property
    def records(self) -> Path:
        """Whoever is recorded here ends with the control plane, and when its owner dies."""
        return self.cluster.directory / "run"

    def log(self, name: str) -> Path:
        """Outlives the run, and not the next one."""
        return self.cluster.directory / "logs" / f"{name}.log"

    def pid(self, name: str) -> int:
        pid = self.cluster.pid(name)
        assert pid is not None, f"{name} has ended, see {self.log(name)}"
        return pid

    def command(self, name: str) -> str:
        """What it was started with; where its files lie and where it listens stands in braces."""
        program, *flags = next(each.command for each in self.cluster.components if each.name == name)
        told = " ".join((Path(program).name, *flags)).replace(str(self.cluster.directory), "{directory}")
        return _PORT.sub("{port}", told)

    def tls(self) -> ssl.SSLContext:
        return admin_context(self.pki)


@contextlib.contextmanager
def fresh(directory: Path) -> Iterator[Place]:
    """A control plane without nodes, which ends with the block."""
    spec = ClusterSpec(controllers=False, apiserver_flags=API_SERVER_FLAGS)
    with DevCluster.start(spec, directory=directory) as cluster:
        yield Place(cluster)
