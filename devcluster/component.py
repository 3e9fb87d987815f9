"""One process of a cluster, as a value."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from devcluster.folder import ClusterFolder
from devcluster.pki import Pki
from devcluster.ports import Ports
from devcluster.spec import ClusterSpec


@dataclass(frozen=True, slots=True)
class Component:
    """What to run, where it listens, and which URL answers 200 once it works."""

    name: str
    command: tuple[str, ...]
    url: str
    health_url: str


@dataclass(frozen=True, slots=True)
class Plan:
    """All that the command lines of one cluster are made of."""

    spec: ClusterSpec
    folder: ClusterFolder
    pki: Pki
    ports: Ports
    program: Callable[[str], Path]
    """Where a program lies; builds it where needed."""

    @property
    def etcd_url(self) -> str:
        return f"http://127.0.0.1:{self.ports.etcd}"

    @property
    def server(self) -> str:
        return f"https://127.0.0.1:{self.ports.api_server}"

    @property
    def exporter_url(self) -> str:
        return f"http://127.0.0.1:{self.ports.exporter}"

    def serving_flags(self) -> tuple[str, str]:
        """The flags with which Kubernetes' servers take their certificate."""
        return (
            f"--tls-cert-file={self.pki.certificate('serving')}",
            f"--tls-private-key-file={self.pki.key('serving')}",
        )

    def kubeconfig_flags(self) -> tuple[str, str, str]:
        """The flags with which controllers and extension servers find the API server."""
        return (
            f"--kubeconfig={self.folder.kubeconfig}",
            f"--authentication-kubeconfig={self.folder.kubeconfig}",
            f"--authorization-kubeconfig={self.folder.kubeconfig}",
        )
