"""Scenarios replayed with contenders over seeds: what there is already, what is missing, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from plimsoll.sim.board import Board, board_of
from plimsoll.sim.gate import Cards, Judged, fresh_seeds, judge_scenario, repeated, to_repeat
from plimsoll.sim.results import Key, Result, ResultFile
from plimsoll.sim.running import Bench, Unit, run, units
from plimsoll.sim.scorecard import Scorecard

# Called with how many more replays are done, of how many that are to be done now.
Told = Callable[[int, int], None]


class Study:
    """Attributes:
    results: all that is known by now, of seeds that were asked for and of others.
    unused: how many results in the file are of other code or other files.
    """

    def __init__(self, bench: Bench, *, processes: int, file: ResultFile | None = None) -> None:
        """Raises:
        InvalidInput: the file cannot be read.
        """
        self._bench, self._processes, self._file = bench, processes, file
        self.results: dict[Key, Result] = file.read() if file else {}
        self.unused = file.unused if file else 0

    def replay(self, scenarios: Iterable[str], seeds: Iterable[int], contenders: Sequence[str], *, told: Told) -> None:
        """Replays what is missing.

        Raises:
            KeyboardInterrupt: what was done by then is in ``results`` and in the file.
        """
        self._run(units(scenarios, seeds, contenders, have=self.results), told)

    def judged(self, scenarios: Sequence[str], seeds: range, *, told: Told) -> list[Judged]:
        """The gate over what was replayed; what failed is replayed on fresh seeds."""
        judged = [one for scenario in scenarios for one in judge_scenario(scenario, self.cards(scenario, seeds))]
        fresh = fresh_seeds(seeds)
        again = to_repeat(judged)
        todo = [
            unit
            for scenario, contenders in again.items()
            for unit in units([scenario], fresh, contenders, have=self.results)
        ]
        self._run(todo, told)
        return repeated(judged, {scenario: self.cards(scenario, fresh) for scenario in again})

    def cards(self, scenario: str, seeds: Iterable[int]) -> Cards:
        wanted = set(seeds)
        cards: dict[str, dict[int, Scorecard]] = {}
        for key, result in self.results.items():
            if key.scenario == scenario and key.seed in wanted:
                cards.setdefault(key.contender, {})[key.seed] = result.card
        return cards

    def board(self, scenario: str, seeds: Iterable[int], contenders: Sequence[str], *, baseline: str) -> Board:
        wanted = set(seeds)
        results = [result for key, result in self.results.items() if key.seed in wanted]
        title = self._bench.scenarios[scenario].title
        return board_of(scenario, title, results, contenders=contenders, baseline=baseline)

    def _run(self, todo: list[Unit], told: Told) -> None:
        total = sum(len(unit.contenders) for unit in todo)

        def done(results: list[Result]) -> None:
            if self._file:
                self._file.append(results)
            self.results |= {result.key: result for result in results}
            told(len(results), total)

        told(0, total)
        run(self._bench, todo, processes=self._processes, done=done)
