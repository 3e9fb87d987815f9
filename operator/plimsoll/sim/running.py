"""Replays side by side: the same results whatever the number of processes."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import NamedTuple

from plimsoll.errors import PlimsollError
from plimsoll.sim.building import build_world
from plimsoll.sim.contenders.interface import Make
from plimsoll.sim.engine import replay
from plimsoll.sim.fingerprint import fingerprint
from plimsoll.sim.recorded import Recorded
from plimsoll.sim.results import Key, Result
from plimsoll.sim.scenario import Scenario
from plimsoll.sim.scorecard import scorecard
from plimsoll.sim.trace import Trace

# A unit ends within seconds, so that little is lost when a run is interrupted.
_AT_ONCE = 4
# Processes stand side by side on the cores; threads of the linear algebra within each would only stand in line.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class Material(NamedTuple):
    """What worlds are made of."""

    trace: Trace
    recorded: Recorded = Recorded()


@dataclass(frozen=True, slots=True)
class Bench:
    """All that replays need; it is sent to each process once.

    Attributes:
        load: reads the files, in each process by itself.
        code: fingerprint of what is to replay; a process that starts later must not find anything else.
    """

    load: Callable[[], Material]
    scenarios: Mapping[str, Scenario]
    makes: Mapping[str, Make]
    code: str = field(default_factory=lambda: fingerprint([]))


class Unit(NamedTuple):
    """Contenders that are given the same world."""

    scenario: str
    seed: int
    contenders: tuple[str, ...]


def units(
    scenarios: Iterable[str], seeds: Iterable[int], contenders: Sequence[str], *, have: Collection[Key]
) -> list[Unit]:
    """What is still to be done, the first contenders of all scenarios before the others of any."""
    scenarios, seeds = list(scenarios), list(seeds)
    found = []
    for begin in range(0, len(contenders), _AT_ONCE):
        group = contenders[begin : begin + _AT_ONCE]
        for scenario in scenarios:
            for seed in seeds:
                missing = tuple(c for c in group if Key(scenario, seed, c) not in have)
                found.append(Unit(scenario, seed, missing))
    return [unit for unit in found if unit.contenders]


def run(bench: Bench, todo: Sequence[Unit], *, processes: int, done: Callable[[list[Result]], None]) -> None:
    """Calls ``done`` with the results of each unit as soon as they are there, in any order.

    Raises:
        KeyboardInterrupt: the processes have ended by then, and what was done was handed over.
        PlimsollError: a process was ended from outside, or the code was changed meanwhile.
    """
    if processes == 1 or len(todo) <= 1:
        material = bench.load()
        for unit in todo:
            done(replayed(bench, material, unit))
        return
    before = set(multiprocessing.active_children())
    with _one_thread_each():
        pool = ProcessPoolExecutor(
            max_workers=min(processes, len(todo)),
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=(bench,),
        )
        try:
            futures = {pool.submit(_in_process, unit): unit for unit in todo}
            for future in as_completed(futures):
                done(_result(future, futures[future]))
        except BaseException:
            # The pool's thread ends with its processes; to leave it to the interpreter's end is a race for its pipe.
            for process in set(multiprocessing.active_children()) - before:
                process.terminate()
            pool.shutdown(cancel_futures=True)
            raise
        finally:
            pool.shutdown()


def replayed(bench: Bench, material: Material, unit: Unit) -> list[Result]:
    """The unit's world is built once; each contender gets it as it was built."""
    world = build_world(material.trace, bench.scenarios[unit.scenario], unit.seed, recorded=material.recorded)
    results = []
    for contender in unit.contenders:
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        outcome = replay(world, bench.makes[contender])
        wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
        card = scorecard(outcome)
        results.append(Result(Key(unit.scenario, unit.seed, contender), card, cpu_s, wall_s))
    return results


def _result(future: Future[list[Result]], unit: Unit) -> list[Result]:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise PlimsollError(
            "one of the processes that replay was ended from outside, perhaps for want of memory: use fewer of them"
        ) from error
    except Exception as error:
        error.add_note(f"while replaying {unit.scenario}, seed {unit.seed}, with {', '.join(unit.contenders)}")
        raise


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """For processes that are started meanwhile: what reads it does so when it is imported."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


# -- within each process -----------------------------------------------------------------------------------

_bench: Bench | None = None


def _begin(bench: Bench) -> None:
    """Nothing in here may fail: a pool would not say why."""
    global _bench  # noqa: PLW0603 - a pool's processes hand nothing else to their tasks
    # Ctrl-C reaches all processes of a terminal: the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _bench = bench


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _in_process(unit: Unit) -> list[Result]:
    assert _bench is not None
    return replayed(_bench, _material(), unit)


@functools.cache
def _material() -> Material:
    """The files, read once.

    Raises:
        PlimsollError: the code is not that of the process that started this one.
    """
    assert _bench is not None
    if fingerprint([]) != _bench.code:
        raise PlimsollError("the code was changed while it replayed: start anew, or results would be of both")
    return _bench.load()
