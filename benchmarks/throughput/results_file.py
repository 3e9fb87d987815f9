"""All runs in one JSON document, written anew after each run: an interrupted table goes on where it was."""

from __future__ import annotations

from pathlib import Path

import orjson

from benchmarks.throughput.result import RunResult


class ResultsFile:
    """Args:
    path: where the document is, or will be; None keeps runs in memory alone.
    resume: go on from what is there; else it is begun anew.

    Attributes:
        added: how many runs are new.
    """

    def __init__(self, path: Path | None, *, resume: bool) -> None:
        self.path = path
        self._runs = _read(path) if path is not None and resume and path.exists() else []
        self.added = 0

    @property
    def runs(self) -> list[RunResult]:
        return list(self._runs)

    def find(self, planned: RunResult) -> RunResult | None:
        """The run that need not be made again."""
        return next((run for run in self._runs if run.same_run(planned)), None)

    def add(self, result: RunResult) -> None:
        """In place of one of other code, other objects or another machine."""
        self._runs = [run for run in self._runs if not run.same_place(result)] + [result]
        self.added += 1
        if self.path is not None:
            _write(self.path, self._runs)


def _read(path: Path) -> list[RunResult]:
    try:
        return [RunResult.of(run) for run in orjson.loads(path.read_bytes())["runs"]]
    except (ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"error: {path} does not hold runs of this benchmark: name another file") from error


def _write(path: Path, runs: list[RunResult]) -> None:
    """A line for each run, so that a change shows as one; atomically, since an interrupt may come at any moment."""
    lines = b",\n".join(orjson.dumps(run.to_json()) for run in runs)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_bytes(b'{"runs":[\n' + lines + b"\n]}\n")
    unfinished.replace(path)
