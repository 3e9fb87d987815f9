"""Start and end the processes of one cluster."""

import subprocess
from collections.abc import Iterable

from devcluster import records
from devcluster.component import Component
from devcluster.errors import ProcessError, with_log
from devcluster.folder import ClusterFolder
from devcluster.python import module_environment
from devcluster.records import ProcessRecord

_REAP_TIMEOUT_S = 5.0


class Processes:
    """The processes that are recorded in a folder, whoever started them."""

    def __init__(self, folder: ClusterFolder) -> None:
        self._folder = folder
        # Ended children have to be waited for, or they stay zombies as long as we live.
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, component: Component) -> None:
        """Start a process, its output going to its log.

        Raises:
            ProcessError: it runs already.
        """
        if self.pid(component.name) is not None:
            raise ProcessError(f"{component.name} runs already")
        with self._folder.log(component.name).open("ab") as log:
            # A session of its own: Ctrl-C is for the owner, which then ends everything in order.
            child = subprocess.Popen(
                component.command,
                cwd=self._folder.data,
                env=module_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        # A child that ended at once is still a zombie here, so its start time can be read.
        records.write(self._folder.records, ProcessRecord.of(component.name, child.pid))
        self._children[component.name] = child

    def pid(self, name: str) -> int | None:
        """The pid of a process; None if it does not run."""
        record = records.read(self._folder.records, name)
        return record.pid if record and record.process() else None

    def require_alive(self, name: str) -> None:
        """Check that a process has not died.

        Raises:
            ProcessError: it has; names its log.
        """
        if self.pid(name) is None:
            raise ProcessError(with_log(f"{name} has ended", self._folder.log(name)))

    def any_alive(self) -> bool:
        """Whether any process of the cluster runs."""
        return any(record.process() for record in records.read_all(self._folder.records))

    def stop(self, name: str, *, grace_s: float) -> None:
        """End one process."""
        record = records.read(self._folder.records, name)
        if record is not None:
            records.end([record], grace_s=grace_s)
            records.forget(self._folder.records, name)
        self._reap([name])

    def stop_all(self, *, grace_s: float) -> None:
        """End all, the newest first."""
        records.end(records.read_all(self._folder.records)[::-1], grace_s=grace_s)
        self._reap(list(self._children))

    def release(self) -> None:
        """Be their parent no longer: they may outlive this interpreter."""
        for child in self._children.values():
            # Else the interpreter's end would warn of a child that still runs.
            child.returncode = 0
        self._children.clear()

    def _reap(self, names: Iterable[str]) -> None:
        for child in [self._children.pop(name) for name in names if name in self._children]:
            # The last threads of a killed process may need a moment more than its first.
            child.wait(_REAP_TIMEOUT_S)
