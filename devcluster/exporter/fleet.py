"""All fake nodes, and how they outlive the process."""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Self

from devcluster.exporter.load import Load
from devcluster.exporter.node import FakeNode


class Fleet:
    """The fake nodes by name.

    The clock is the wall's: counters go on growing while the process is away, as those of real
    machines do while their node-exporter is.
    """

    def __init__(self, nodes: Iterable[FakeNode] = (), *, clock: Callable[[], float] = time.time) -> None:
        self._nodes = {node.name: node for node in nodes}
        self._clock = clock
        self._next_number = max((node.number for node in self._nodes.values()), default=-1) + 1

    @classmethod
    def load(cls, path: Path) -> Self:
        """The fleet that was saved there; an empty one where nothing was."""
        if not path.exists():
            return cls()
        return cls(FakeNode.restored(saved) for saved in json.loads(path.read_text()))

    def save(self, path: Path) -> None:
        """Keep the fleet for the next process."""
        path.write_text(json.dumps([asdict(node) for node in self._nodes.values()]))

    def __getitem__(self, name: str) -> FakeNode:
        return self._nodes[name]

    def names(self) -> list[str]:
        """All names, in the order in which nodes were added."""
        return list(self._nodes)

    def now_s(self) -> float:
        """Seconds since 1970."""
        return self._clock()

    def add(self, loads: Mapping[str, Load]) -> None:
        """Add nodes; one that is known already keeps its counters."""
        for name in loads:
            if name not in self._nodes:
                self._nodes[name] = FakeNode.idle(name, number=self._next_number, now_s=self.now_s())
                self._next_number += 1
        self.change(loads)

    def change(self, changes: Mapping[str, Load]) -> None:
        """Change the load of nodes.

        Raises:
            KeyError: a node is unknown; none is changed then.
            ValueError: a change makes no sense.
        """
        changed = [(self._nodes[name], change) for name, change in changes.items()]
        for node, change in changed:
            node.apply(change, now_s=self.now_s())

    def remove(self, names: Iterable[str]) -> None:
        """Forget nodes."""
        for name in names:
            del self._nodes[name]

    def reset_counters(self, names: Iterable[str]) -> None:
        """Start the counters of nodes at zero again."""
        for node in [self._nodes[name] for name in names]:
            node.reset_counters(now_s=self.now_s())
