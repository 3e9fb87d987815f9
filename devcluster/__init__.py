"""The local control plane: real Kubernetes processes on loopback, fake nodes, real metrics.

>>> with DevCluster.start(ClusterSpec.of(3, prometheus=True), directory=folder) as cluster:
...     cluster.exporter.set("node-1", receive_bytes_per_s={"eth0": 5e6})
...     print(cluster.kubectl("get", "nodes"))
"""

from devcluster.cluster import DevCluster
from devcluster.errors import (
    ApiError,
    BuildError,
    ClusterMissingError,
    ClusterRunningError,
    CommandError,
    DevClusterError,
    ExporterError,
    FolderError,
    HelmError,
    KubectlError,
    NotReadyError,
    ProcessError,
    ToolchainError,
)
from devcluster.exporter.client import ExporterClient
from devcluster.exporter.load import Load
from devcluster.spec import ClusterSpec, NodeSpec, equal_nodes

__all__ = [
    "ApiError",
    "BuildError",
    "ClusterMissingError",
    "ClusterRunningError",
    "ClusterSpec",
    "CommandError",
    "DevCluster",
    "DevClusterError",
    "ExporterClient",
    "ExporterError",
    "FolderError",
    "HelmError",
    "KubectlError",
    "Load",
    "NodeSpec",
    "NotReadyError",
    "ProcessError",
    "ToolchainError",
    "equal_nodes",
]
