from __future__ import annotations

import json
import os
import signal
from dataclasses import replace

import pytest

from plimsoll.errors import InvalidInput, PlimsollError
from plimsoll.sim.contenders.chance import Chance
from plimsoll.sim.contenders.kube_scheduler import KubeScheduler
from plimsoll.sim.fingerprint import fingerprint
from plimsoll.sim.results import Key, ResultFile
from plimsoll.sim.running import Bench, Material, Unit, units
from plimsoll.sim.scenario import Scenario
from plimsoll.sim.study import Study
from plimsoll.sim.synthetic import synthetic_trace
from tests.sim.cards import cards_of, results_of

_TINY = Scenario("tiny", "", nodes=3, pods=20, hours=2.0)


def material() -> Material:
    return Material(synthetic_trace(0))


def bench() -> Bench:
    return Bench(material, {"tiny": _TINY}, {"kube": KubeScheduler, "random": Chance})


def silent(_done: int, _total: int) -> None:
    """Nobody looks."""


def replayed(processes: int, file: ResultFile | None = None, *, seeds: range = range(3)) -> Study:
    study = Study(bench(), processes=processes, file=file)
    study.replay(["tiny"], seeds, ["kube", "random"], told=silent)
    return study


def test_results_come_back_from_the_file_as_they_were(tmp_path):
    file = ResultFile(tmp_path / "deep" / "results.jsonl", "one")
    results = results_of("tiny", {"kube": cards_of([1.0, float("nan")])})
    file.append(results)
    read = file.read()
    assert list(read) == [result.key for result in results]
    assert repr(list(read.values())) == repr(results)


def test_results_of_other_code_or_files_are_not_used(tmp_path):
    path = tmp_path / "results.jsonl"
    ResultFile(path, "one").append(results_of("tiny", {"kube": cards_of([1.0, 2.0])}))
    other = ResultFile(path, "other")
    assert other.read() == {}
    assert other.unused == 2
    assert len(ResultFile(path, "one").read()) == 2


def test_half_a_line_is_what_a_killed_run_leaves(tmp_path):
    path = tmp_path / "results.jsonl"
    first, second = results_of("tiny", {"kube": cards_of([1.0, 2.0])})
    ResultFile(path, "one").append([first])
    path.write_bytes(path.read_bytes()[:-40])
    file = ResultFile(path, "one")
    assert file.read() == {}
    assert file.unused == 1
    file.append([second])
    assert list(file.read()) == [second.key]


_SOMETHING_ELSE = pytest.mark.parametrize("text", ["[]\n", "3\n", '{"seed": 1}\n', "what?\n"])


@_SOMETHING_ELSE
def test_lines_that_are_something_else_are_not_used(tmp_path, text):
    path = tmp_path / "results.jsonl"
    path.write_text(text)
    with path.open("a") as file:
        ResultFile(tmp_path / "others.jsonl", "one").append(results_of("tiny", {"kube": cards_of([1.0])}))
        file.write((tmp_path / "others.jsonl").read_text())
    found = ResultFile(path, "one")
    assert len(found.read()) == 1
    assert found.unused == 1


@_SOMETHING_ELSE
def test_a_file_without_any_result_is_somebody_elses(tmp_path, text):
    path = tmp_path / "results.jsonl"
    path.write_text(text)
    with pytest.raises(InvalidInput, match="it holds no results but something else"):
        ResultFile(path, "one").read()
    assert path.read_text() == text


@pytest.mark.parametrize("text", ["", "\n"])
def test_an_empty_file_is_begun(tmp_path, text):
    path = tmp_path / "results.jsonl"
    path.write_text(text)
    assert ResultFile(path, "one").read() == {}


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "results.jsonl").mkdir()
    file = ResultFile(tmp_path / "results.jsonl", "one")
    with pytest.raises(InvalidInput, match=r"results\.jsonl"):
        file.append(results_of("tiny", {"kube": cards_of([1.0])}))
    with pytest.raises(InvalidInput, match=r"results\.jsonl"):
        file.read()


def test_only_what_is_missing_is_replayed():
    have = {Key("a", 0, "kube"), Key("a", 0, "random"), Key("a", 1, "kube")}
    assert units(["a"], range(2), ["kube", "random"], have=have) == [Unit("a", 1, ("random",))]


def test_the_first_contenders_are_replayed_first():
    found = units(["a", "b"], [0], list("12345"), have=())
    assert [unit.contenders for unit in found] == [tuple("1234"), tuple("1234"), ("5",), ("5",)]


def test_a_second_run_replays_nothing(tmp_path):
    path = tmp_path / "results.jsonl"
    replayed(1, ResultFile(path, "one"))
    lines = path.read_text()
    again: list[tuple[int, int]] = []
    study = Study(bench(), processes=1, file=ResultFile(path, "one"))
    study.replay(["tiny"], range(3), ["kube", "random"], told=lambda done, total: again.append((done, total)))
    assert again == [(0, 0)]
    assert path.read_text() == lines
    assert len(study.results) == 6


def test_what_was_done_before_an_interruption_is_kept(tmp_path):
    file = ResultFile(tmp_path / "results.jsonl", "one")
    study = Study(bench(), processes=1, file=file)

    def told(done: int, _total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.replay(["tiny"], range(3), ["kube", "random"], told=told)
    assert set(study.results) == set(file.read()) == {Key("tiny", 0, "kube"), Key("tiny", 0, "random")}


@pytest.mark.slow
def test_processes_side_by_side_find_the_same():
    alone, together = replayed(1).results, replayed(2).results
    assert alone.keys() == together.keys()
    assert all(repr(alone[key].card) == repr(together[key].card) for key in alone)


def test_each_seed_has_a_world_of_its_own():
    study = replayed(1)
    found = {json.dumps(dict(result.card.values)) for result in study.results.values()}
    assert len(found) == len(study.results)


def test_a_fingerprint_is_of_all_that_goes_in():
    assert fingerprint(["a", "b"]) == fingerprint(["a", "b"])
    assert len({fingerprint(["a", "b"]), fingerprint(["ab"]), fingerprint(["b", "a"]), fingerprint([])}) == 4


class _Killed(Chance):
    """As what the kernel ends for want of memory."""

    def __init__(self, *_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def broken() -> Material:
    raise InvalidInput("no such trace")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("load", "make", "error"),
    [(material, _Killed, "ended from outside"), (broken, Chance, "no such trace")],
    ids=["killed", "a file that is wrong"],
)
def test_what_goes_wrong_in_a_process_is_told(load, make, error):
    study = Study(Bench(load, {"tiny": _TINY}, {"random": make}), processes=2)
    with pytest.raises(PlimsollError, match=error):
        study.replay(["tiny"], range(4), ["random"], told=silent)
    assert study.results == {}


@pytest.mark.slow
def test_results_of_changed_code_are_not_mixed_with_others():
    study = Study(replace(bench(), code="as it was before"), processes=2)
    with pytest.raises(PlimsollError, match="the code was changed"):
        study.replay(["tiny"], range(4), ["random"], told=silent)
