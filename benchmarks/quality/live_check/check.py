"""The check as a whole: what is compared, and how much passing it means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.quality.live_check.as_json import as_json
from benchmarks.quality.live_check.comparison import Comparison
from benchmarks.quality.live_check.live import Live
from benchmarks.quality.live_check.scene import Scene
from benchmarks.quality.live_check.simulated import ours, play
from plimsoll.sim.contenders.chance import Chance
from plimsoll.sim.contenders.kube_scheduler import KubeScheduler

SEEDS = range(1, 21)
# A check that all would pass shows nothing, and one that the simulator itself would fail asks too much.
_OTHER_SEEDS = range(1001, 1101)


def compared(scene: Scene) -> Comparison:
    """The range that the live counts have to lie in."""
    return Comparison(play(scene, SEEDS, ours(scene)))


def check(scene: Scene, comparison: Comparison, plays: Sequence[Live]) -> dict[str, Any]:
    """As JSON."""
    makes = {"other seeds": ours(scene), "seeds of kube-scheduler": KubeScheduler, "seeds of random": Chance}
    others = {name: play(scene, _OTHER_SEEDS, make) for name, make in makes.items()}
    return as_json(scene, comparison, plays, others)
