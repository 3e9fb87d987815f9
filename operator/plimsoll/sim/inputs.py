"""The files that worlds are made of, handed in by whoever replays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from plimsoll.sim.fingerprint import sha256
from plimsoll.sim.recorded import read_recorded
from plimsoll.sim.running import Material
from plimsoll.sim.scenario import Arrivals, Machines, Scenario
from plimsoll.sim.synthetic import synthetic_trace
from plimsoll.sim.trace import Trace, read_trace

# Load that is made up is the same for everybody.
_SYNTHETIC_SEED = 0


@dataclass(frozen=True, slots=True)
class Inputs:
    """Attributes:
    usage, machines: the two files of a trace, both or neither; without, load is generated.
    arrivals, nodes: of a recorded cluster, for the scenarios that ask for them.
    """

    usage: Path | None = None
    machines: Path | None = None
    arrivals: Path | None = None
    nodes: Path | None = None

    @property
    def generated(self) -> bool:
        return self.usage is None or self.machines is None

    def load(self) -> Material:
        """Raises:
        InvalidInput: names the file, and what in it is not as it should be.
        """
        return Material(self._trace(), read_recorded(arrivals=self.arrivals, nodes=self.nodes))

    def digests(self) -> dict[str, str]:
        """Names of the files, without their folders, to their sha256.

        Raises:
            InvalidInput: a file cannot be read.
        """
        given = (self.usage, self.machines, self.arrivals, self.nodes)
        return {path.name: sha256(path) for path in given if path is not None}

    def lacking(self, scenario: Scenario) -> Iterator[str]:
        """Names of the files that the scenario needs and that were not given."""
        if scenario.arrivals is Arrivals.RECORDED and self.arrivals is None:
            yield "arrivals"
        if scenario.machines is Machines.RECORDED and self.nodes is None:
            yield "nodes"

    def _trace(self) -> Trace:
        if self.usage is None or self.machines is None:
            return synthetic_trace(_SYNTHETIC_SEED)
        return read_trace(self.usage, self.machines)
