"""One run, as it is kept."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from benchmarks.throughput.versions import COMMIT

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Attributes:
    case: its name.
    pair: the number of the turn, from 0.
    fingerprint: of Plimsoll's code and the objects; harness: of what plays and measures; flags: of the command lines
        that are asked for; see fingerprint.py.
    parameters: of the case.
    commands: the command lines, by the program; what differs from run to run stands in braces.
    configuration: the contender's, where it has a file of it.
    expected: how many of the measured pods can be bound.
    unfinished: why, where the run did not come to its end; its figures are those until then, and nobody's result.
    figures: by name; what could not be taken is absent.
    requests: what the API server answered meanwhile, by ``VERB resource code``.
    binds: how many in each second from the first on; events: the same of those that say so.
    began: when, in ISO 8601.
    versions: of everything that took part, and of the machine.
    """

    case: str
    contender: str
    pair: int
    fingerprint: str
    parameters: Json
    harness: str = ""
    flags: str = ""
    commands: dict[str, str] = field(default_factory=dict)
    configuration: Json | None = None
    expected: int = 0
    unfinished: str = ""
    figures: dict[str, float] = field(default_factory=dict)
    requests: dict[str, int] = field(default_factory=dict)
    binds: list[int] = field(default_factory=list)
    events: list[int] = field(default_factory=list)
    began: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def machine(self) -> dict[str, str]:
        """The versions but for the commit: that may change a document only, and fingerprints tell of the code."""
        return {what: version for what, version in self.versions.items() if what != COMMIT}

    def same_run(self, other: RunResult) -> bool:
        """Whether one stands for the other, whatever came out."""
        return self.same_place(other) and self._made_of() == other._made_of()

    def _made_of(self) -> tuple[object, ...]:
        return self.fingerprint, self.harness, self.flags, self.parameters, self.machine

    def same_place(self, other: RunResult) -> bool:
        """Whether both are the same line of the same table."""
        return (self.case, self.contender, self.pair) == (other.case, other.contender, other.pair)

    def with_figures(self, more: dict[str, float]) -> RunResult:
        return replace(self, figures={**self.figures, **more})

    def to_json(self) -> Json:
        return asdict(self)

    @classmethod
    def of(cls, document: Json) -> Self:
        return cls(**document)
