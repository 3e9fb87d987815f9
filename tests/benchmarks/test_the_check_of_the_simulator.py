"""All of it but the live control plane."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.quality.live_check import manifests
from benchmarks.quality.live_check.as_json import as_json
from benchmarks.quality.live_check.check import compared
from benchmarks.quality.live_check.comparison import Comparison
from benchmarks.quality.live_check.feed import node_loads
from benchmarks.quality.live_check.live import Live, Measured
from benchmarks.quality.live_check.placements import Placements
from benchmarks.quality.live_check.scene import SCENE
from benchmarks.quality.live_check.section import section
from benchmarks.quality.live_check.simulated import play
from plimsoll.cluster.pod import PodInfo
from plimsoll.sim.contenders.chance import Chance


def _placements(*by_node: int) -> Placements:
    return Placements(np.array([by_node]))


def _pod(name: str, *, app: str, node: str, phase: str = "Running") -> dict[str, object]:
    metadata = {"namespace": "default", "name": name, "labels": {"app": app}}
    return {"metadata": metadata, "spec": {"nodeName": node}, "status": {"phase": phase}}


@pytest.mark.parametrize(
    ("by_node", "holds"),
    [
        pytest.param((4, 3, 2), True, id="as a seed has it"),
        pytest.param((3, 3, 3), True, id="each within its range"),
        pytest.param((5, 2, 2), False, id="one more than any seed"),
        pytest.param((3, 4, 1), False, id="one fewer than any seed"),
    ],
)
def test_it_holds_where_each_nodes_count_is_one_between_those_of_the_seeds(by_node, holds):
    comparison = Comparison([_placements(4, 3, 2), _placements(3, 2, 4), _placements(2, 4, 3)])
    assert comparison.holds(_placements(*by_node)) is holds


def test_the_distance_is_0_for_the_mean_and_2_for_no_pod_in_common():
    comparison = Comparison([_placements(6, 4, 0), _placements(4, 6, 0)])
    assert comparison.distance(_placements(5, 5, 0)) == 0.0
    assert comparison.distance(_placements(0, 0, 10)) == 2.0


def test_a_node_carries_its_background_and_the_pods_that_run_there_now():
    pods = [
        _pod("web-1", app="web", node="node-1"),
        _pod("web-2", app="web", node="node-2"),
        _pod("batch-1", app="batch", node="node-1", phase="Succeeded"),
        _pod("batch-2", app="batch", node="node-1", phase="Pending"),
    ]
    loads = node_loads(SCENE, pods)
    machine, web = SCENE.machines[0], SCENE.app("web").use
    assert loads["node-1"]["memory_used_bytes"] == machine.background.mem_bytes + web.mem_bytes
    assert loads["node-1"]["cpu_utilisation"] == (machine.background.cores + web.cores) / machine.cores
    assert loads["node-1"]["pods"].keys() == {"default/web-1"}
    assert loads["node-8"]["pods"] == {}


@pytest.mark.parametrize("app", SCENE.apps, ids=lambda app: app.name)
def test_what_is_applied_asks_for_what_the_simulator_takes_it_to_ask_for(app):
    manifest = manifests.of(app, 2, before=1)
    template = manifest["items"][0] if "items" in manifest else manifest["spec"]["template"]
    template["metadata"] |= {"namespace": "default", "name": "one", "uid": "1"}
    pod = PodInfo.parse(template)
    assert pod.requests.get("cpu", 0) == 1000 * app.request_cores
    assert pod.requests.get("memory", 0) == int(app.request_bytes)


@pytest.mark.slow
def test_the_seeds_are_close_to_each_other_and_chance_does_not_pass():
    comparison = compared(SCENE)
    assert int((comparison.most - comparison.least).max()) <= 4
    assert comparison.share_within(play(SCENE, range(30), Chance)) == 0.0


def test_the_report_says_of_each_node_what_the_seeds_and_the_live_play_put_there():
    comparison = Comparison(play(SCENE, (1, 2), Chance))
    live = Live(comparison.simulated[0], Measured(late_s=0.1, ready_s=0.6, looks=3))
    result = json.loads(json.dumps(as_json(SCENE, comparison, [live], {"others": comparison.simulated})))
    assert result["holds"]
    node = result["nodes"][0]
    text = section(result)
    assert f"| node-1 | 8 | {node['least']} to {node['most']} | {node['mean']:.2f} | {node['live'][0]} |" in text
    assert "| 2 others | 100 % of them |" in text
    assert "In 1 of 1 live plays" in text
