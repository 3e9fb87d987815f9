from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.quality.traces import found
from benchmarks.quality.writing import fill, shown_in, tables, write_scorecards
from plimsoll.errors import InvalidInput
from plimsoll.sim.board import board_of
from plimsoll.sim.contenders.registry import CONTENDERS
from plimsoll.sim.gate import CONTENDERS as JUDGED
from plimsoll.sim.gate import judge_scenario, lines
from plimsoll.sim.scenarios import SCENARIOS
from tests.sim.cards import cards_of, results_of

_ROOT = Path(__file__).parent.parent.parent
_DOCUMENT, _SCORECARDS = _ROOT / "docs" / "quality.md", _ROOT / "benchmarks" / "quality" / "scorecards"
_CARDS = {
    "ours": cards_of([0.1, 0.2, 0.3]),
    "kube": cards_of([2.0, 2.1, 2.3]),
    "koordinator": cards_of([0.1, 0.2, 0.3]),
    "random": cards_of([1.0, 9.0, 5.0]),
    "ours-without-spreading": cards_of([0.4, 0.4, 0.4]),
}
_INPUTS = {"month.npz": "ab" * 32}


@pytest.fixture
def boards():
    results = results_of("services", _CARDS) + results_of("jobs", _CARDS)
    return [board_of(name, "", results, contenders=list(_CARDS), baseline="kube") for name in ("services", "jobs")]


@pytest.fixture
def judged(boards):
    return [one for board in boards for one in judge_scenario(board.scenario, board.cards)]


def test_the_document_has_a_place_for_every_table(boards, judged, tmp_path):
    document = tmp_path / "quality.md"
    document.write_text(_DOCUMENT.read_text())
    made = tables(boards, contenders=list(_CARDS), inputs=_INPUTS, judged=judged)
    fill(document, made)
    text = document.read_text()
    assert all(content in text for content in made.values())
    assert set(re.findall(r"^<!-- ([\w-]+) -->$", text, re.MULTILINE)) >= made.keys()
    fill(document, made)
    assert document.read_text() == text


def test_tables_say_by_how_much_and_how_surely(boards, judged):
    made = tables(boards, contenders=list(_CARDS), inputs=_INPUTS, judged=judged)
    assert (
        "| services | -1.93 ± 0.03 (-91 %)  3:0 * | 0.00 ± 0.00 (+0 %)  0:0 | -4.80 ± 2.28 (-96 %)  3:0 * |"
        in (made["ours-unserved-cpu"])
    )
    assert made["variants-unserved-cpu"].startswith("| scenario | ours | ours-without-spreading |")
    assert "ours-without-spreading" not in made["peers-unserved-cpu"]
    assert "| month.npz | `abababababababab` |" in made["files"]


def test_the_gate_is_counted_by_scenario(boards, judged):
    made = tables(boards, contenders=list(_CARDS), inputs=_INPUTS, judged=judged)
    lines = [sum(one.line.scenario == name for one in judged) for name in ("services", "jobs")]
    assert f"| services | {lines[0]} | {lines[0]} | 0 | 0 |" in made["gate"]
    assert f"| jobs | {lines[1]} | {lines[1]} | 0 | 0 |" in made["gate"]
    assert made["gate-again"] == "Every line held at once.\n"


def test_a_document_without_the_place_says_which(tmp_path):
    document = tmp_path / "quality.md"
    document.write_text("# nothing\n")
    with pytest.raises(InvalidInput, match="<!-- gate -->"):
        fill(document, {"gate": "x"})


def test_scorecards_are_small_enough_for_a_repository(judged, tmp_path):
    many = {name: cards_of([0.123456789 * i for i in range(24)]) for name in CONTENDERS}
    results = results_of("services", many)
    board = board_of("services", "", results, contenders=list(CONTENDERS), baseline="kube")
    write_scorecards(tmp_path, [board], inputs=_INPUTS, judged=judged)
    [path] = tmp_path.glob("*.json")
    assert path.stat().st_size < 300_000
    report = json.loads(path.read_text())
    assert list(report["scenarios"][0]["policies"]) == list(CONTENDERS)
    assert {one["scenario"] for one in report["gate"]} == {"services"}


def places(text: str) -> dict[str, str]:
    """What stands between each pair of markers."""
    return dict(re.findall(r"^<!-- ([\w-]+) -->$(.*?)^<!-- /\1 -->$", text, re.MULTILINE | re.DOTALL))


def test_no_place_of_the_document_is_empty():
    text = _DOCUMENT.read_text()
    assert len(places(text)) == len(re.findall(r"^<!-- [\w-]+ -->$", text, re.MULTILINE)) > 10
    assert [name for name, content in places(text).items() if not content.strip()] == [], "filled by `make quality`"


def test_the_scorecard_of_every_scenario_is_kept():
    kept = {path.stem for path in _SCORECARDS.glob("*.json")}
    assert sorted(SCENARIOS.keys() - kept) == [], "written by `make quality`"


@pytest.mark.parametrize("scenario", [name for name in SCENARIOS if (_SCORECARDS / f"{name}.json").is_file()])
def test_a_scorecard_that_is_kept_is_of_its_scenario_and_whole(scenario):
    report = json.loads((_SCORECARDS / f"{scenario}.json").read_text())
    assert report["complete"]
    [held] = report["scenarios"]
    assert held["scenario"] == scenario
    assert set(held["policies"]) == set(shown_in(scenario, list(CONTENDERS)))
    assert [one["line"] for one in report["gate"]] == [str(line) for line in lines(scenario)]


def test_contenders_of_the_gate_are_there():
    assert set(JUDGED) <= CONTENDERS.keys()


def test_a_folder_of_traces_is_sorted_by_names(tmp_path):
    for name in ("may.npz", "may_vms.csv", "x_dlrm_y.csv.gz", "openb_node_list_all.csv", "README.md"):
        (tmp_path / name).touch()
    inputs = found(tmp_path)
    assert [path.name for path in (inputs.usage, inputs.machines, inputs.arrivals, inputs.nodes)] == [
        "may.npz",
        "may_vms.csv",
        "x_dlrm_y.csv.gz",
        "openb_node_list_all.csv",
    ]


@pytest.mark.parametrize(
    ("names", "says"),
    [((), "none"), (("may.npz",), "none"), (("a.npz", "a_vms.csv", "b.npz", "b_vms.csv"), "a.npz, b.npz")],
    ids=["empty", "half a trace", "two traces"],
)
def test_a_folder_holds_one_trace(tmp_path, names, says):
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(InvalidInput, match=says):
        found(tmp_path)
