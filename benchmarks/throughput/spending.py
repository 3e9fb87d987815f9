"""CPU time and memory of those who take part, at the moments that matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import psutil

from benchmarks.throughput.rates import Figures, present
from benchmarks.throughput.usage import Usage

START, FIRST, BOUND, END = "start", "first", "bound", "end"
SCHEDULER, API_SERVER, ETCD = "scheduler", "apiserver", "etcd"
_MIB = 1024 * 1024
_NOTHING = Usage(0.0, 0, 0)


class Spending:
    """Args:
    watched: what asks the kernel about each.
    """

    def __init__(self, watched: Mapping[str, Callable[[], Usage]]) -> None:
        self._watched = watched
        self._marks: dict[tuple[str, str], Usage] = {}

    def mark(self, moment: str, *, born: str = "") -> None:
        """Notes what everybody has used by now.

        Args:
            born: who was only just started: the work of starting is to be counted.
        """
        for name, ask in self._watched.items():
            try:
                self._marks[name, moment] = _NOTHING if name == born else ask()
            except psutil.NoSuchProcess:
                continue

    def figures(self, *, pods: int) -> Figures:
        """Per pod that was bound, and of memory what there is at the end."""
        found: dict[str, float | None] = {}
        for name in self._watched:
            before = "" if name == SCHEDULER else f"{name}_"
            found[f"{before}cpu_ms_per_pod"] = self._per_pod_ms(name, START, END, pods)
            found[f"{before}cpu_ms_per_pod_first_to_last"] = self._per_pod_ms(name, FIRST, BOUND, pods)
            last = self._marks.get((name, END))
            found[f"{before}rss_mib"] = last.rss_bytes / _MIB if last else None
            found[f"{before}peak_rss_mib"] = last.peak_rss_bytes / _MIB if last else None
        return present(found)

    def _per_pod_ms(self, name: str, since: str, until: str, pods: int) -> float | None:
        first, last = self._marks.get((name, since)), self._marks.get((name, until))
        return 1000 * (last.cpu_s - first.cpu_s) / pods if first and last and pods else None
