"""What lies where in the folder of one cluster."""

import shutil
from dataclasses import dataclass
from pathlib import Path


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

    def prepare(self) -> None:
        """Make an empty folder; what an earlier cluster left in it goes, logs included."""
        self.clear()
        shutil.rmtree(self.logs, ignore_errors=True)
        self.audit_log.unlink(missing_ok=True)
        for path in (self.pki, self.config, self.data, self.logs, self.records):
            path.mkdir(parents=True, exist_ok=True)
        self.pki.chmod(0o700)

    def clear(self) -> None:
        """Remove all but the logs. Only our own names: the folder may be anyone's."""
        for path in (self.pki, self.config, self.data, self.records):
            shutil.rmtree(path, ignore_errors=True)
        for path in (self.kubeconfig, self.state):
            path.unlink(missing_ok=True)
