"""Everything that can go wrong with the local control plane.

DevClusterError
├── ToolchainError            no Go that can build the pinned modules
├── BuildError                a program did not compile
├── ProcessError              a process did not start, or died
├── NotReadyError             something did not get ready in time
├── FolderError               the folder is somebody else's
├── ClusterRunningError       the folder already holds a running cluster
├── ClusterMissingError       the folder holds no cluster
├── ApiError                  the API server refused a request
├── ExporterError             the exporter refused a request
└── CommandError              a client program failed
    ├── KubectlError
    └── HelmError
"""

from collections.abc import Sequence
from pathlib import Path

TAIL_LINES = 15


class DevClusterError(Exception):
    """The local control plane could not do what it was asked to."""


class ToolchainError(DevClusterError):
    """There is no Go on this machine that can build the pinned modules, and none could be installed."""


class BuildError(DevClusterError):
    """A program of the pinned modules did not compile."""


class ProcessError(DevClusterError):
    """A process of the cluster did not start, or died."""


class FolderError(DevClusterError):
    """The folder holds files that are not a cluster's, or is no folder."""


class NotReadyError(DevClusterError):
    """Something did not get ready in time."""


class ClusterRunningError(DevClusterError):
    """The folder already holds a running cluster."""


class ClusterMissingError(DevClusterError):
    """The folder holds no cluster."""


class ApiError(DevClusterError):
    """The API server refused a request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"HTTP {status}: {message}")
        self.status = status


class ExporterError(DevClusterError):
    """The exporter refused a request."""


class CommandError(DevClusterError):
    """A client program exited with an error; `stderr` is what it said."""

    def __init__(self, command: Sequence[str], *, exit_code: int, stderr: str) -> None:
        super().__init__(f"`{' '.join(command)}` exited with {exit_code}: {stderr.strip()}")
        self.exit_code = exit_code
        self.stderr = stderr


class KubectlError(CommandError):
    """kubectl exited with an error."""


class HelmError(CommandError):
    """helm exited with an error."""


def with_log(sentence: str, log: Path) -> str:
    """The sentence, followed by the name of the log and its last lines."""
    lines = log.read_text(errors="replace").splitlines()[-TAIL_LINES:] if log.exists() else []
    return "\n  ".join([f"{sentence}; last lines of {log}:", *lines])
