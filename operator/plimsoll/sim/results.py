"""Results of replays, one line of JSON each, in a file that an interrupted run goes on from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from plimsoll.errors import InvalidInput
from plimsoll.sim.scorecard import Scorecard

# As each line begins, torn ones too.
_BEGIN = '{"of": "'
_FIELDS = {"of", "scenario", "seed", "contender", "values"}


class Key(NamedTuple):
    """What was replayed."""

    scenario: str
    seed: int
    contender: str


@dataclass(frozen=True, slots=True)
class Result:
    """Attributes:
    cpu_s, wall_s: what the replay took; part of no comparison.
    """

    key: Key
    card: Scorecard
    cpu_s: float
    wall_s: float


class ResultFile:
    """Lines are appended as results come; those of another fingerprint stay, and are not used.

    Attributes:
        path: is made with its first line.
        unused: how many lines were of another fingerprint, or torn.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path = path
        self.unused = 0
        self._fingerprint = fingerprint

    def read(self) -> dict[Key, Result]:
        """Raises:
        InvalidInput: the file cannot be read, or is something else.
        """
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"cannot go on from {self.path}: {error}: name another file") from error
        lines = text.splitlines()
        if text.strip() and not any(map(_is_result, lines)) and not lines[-1].startswith(_BEGIN):
            raise InvalidInput(
                f"cannot go on from {self.path}: it holds no results but something else: name another file"
            )
        results = [self._parsed(line) for line in lines]
        known = [result for result in results if result]
        self.unused = len(results) - len(known)
        return {result.key: result for result in known}

    def append(self, results: Iterable[Result]) -> None:
        """Raises:
        InvalidInput: the file cannot be written.
        """
        lines = "".join(json.dumps(self._worded(result)) + "\n" for result in results)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a+b") as file:
                # Whoever was killed while writing left half a line.
                torn = file.tell() > 0 and not self._ends_line()
                file.write((b"\n" if torn else b"") + lines.encode())
        except OSError as error:
            raise InvalidInput(f"cannot write results to {self.path}: {error.strerror}: name another file") from error

    def _ends_line(self) -> bool:
        with self.path.open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) == b"\n"

    def _worded(self, result: Result) -> dict[str, Any]:
        card = result.card
        return {
            "of": self._fingerprint,
            **result.key._asdict(),
            "values": dict(card.values),
            "hot_curve": card.hot_curve,
            "unplaced": card.unplaced,
            "cpu_s": result.cpu_s,
            "wall_s": result.wall_s,
        }

    def _parsed(self, line: str) -> Result | None:
        try:
            held = json.loads(line)
            if held["of"] != self._fingerprint:
                return None
            card = Scorecard(held["values"], tuple(held["hot_curve"]), tuple(held["unplaced"]))
            key = Key(held["scenario"], held["seed"], held["contender"])
            return Result(key, card, held["cpu_s"], held["wall_s"])
        except (ValueError, KeyError, TypeError):
            return None


def _is_result(line: str) -> bool:
    """Whatever it is of."""
    try:
        held = json.loads(line)
    except ValueError:
        return False
    return isinstance(held, dict) and held.keys() >= _FIELDS
