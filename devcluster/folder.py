"""What lies where in the folder of one cluster."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from devcluster.errors import FolderError

_MARK = ".devcluster"


@dataclass(frozen=True, slots=True)
class ClusterFolder:
    """The paths of one cluster; everything it writes is below `root`."""

    root: Path

    @property
    def kubeconfig(self) -> Path:
        return self.root / "kubeconfig"

    @property
    def state(self) -> Path:
        return self.root / "cluster.json"

    @property
    def audit_log(self) -> Path:
        return self.root / "audit.log"

    @property
    def pki(self) -> Path:
        return self.root / "pki"

    @property
    def config(self) -> Path:
        return self.root / "config"

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def records(self) -> Path:
        return self.root / "run"

    def log(self, name: str) -> Path:
        """The log of one process."""
        return self.logs / f"{name}.log"

    @property
    def mark(self) -> Path:
        """Says that what else is in the folder is ours to remove."""
        return self.root / _MARK

    def prepare(self) -> None:
        """Make an empty folder; what an earlier cluster left in it goes, logs included.

        Raises:
            FolderError: it holds somebody else's files, or is none.
        """
        if self.root.exists() and not self.root.is_dir():
            raise FolderError(f"{self.root} is not a folder; name a new or an empty one")
        if not self.mark.exists() and any(self._others()):
            raise FolderError(f"{self.root} is not empty and holds no cluster; name a new or an empty folder")
        self.root.mkdir(parents=True, exist_ok=True)
        self.mark.touch()
        self.clear()
        shutil.rmtree(self.logs, ignore_errors=True)
        self.audit_log.unlink(missing_ok=True)
        for path in (self.pki, self.config, self.data, self.logs, self.records):
            path.mkdir(parents=True, exist_ok=True)
        self.pki.chmod(0o700)

    def clear(self) -> None:
        """Remove all but the logs; nothing in a folder that no cluster was made in."""
        if not self.mark.exists():
            return
        for path in (self.pki, self.config, self.data, self.records):
            shutil.rmtree(path, ignore_errors=True)
        for path in (self.kubeconfig, self.state):
            path.unlink(missing_ok=True)

    def _others(self) -> Iterator[Path]:
        """What lies in a folder that is not there to be made yet: nothing; else its files."""
        return self.root.iterdir() if self.root.exists() else iter(())
