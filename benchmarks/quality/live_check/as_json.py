"""The result as JSON: small enough for the repository."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.quality.live_check.comparison import Comparison
from benchmarks.quality.live_check.live import Live
from benchmarks.quality.live_check.placements import Placements
from benchmarks.quality.live_check.scene import Scene

Json = dict[str, Any]


def as_json(
    scene: Scene, comparison: Comparison, plays: Sequence[Live], others: Mapping[str, Sequence[Placements]]
) -> Json:
    """Args:
    others: plays in the simulator that have no part in the range, by what they are plays of.
    """
    return {
        "pods": scene.pods,
        "seeds": len(comparison.simulated),
        "holds": all(comparison.holds(play.placements) for play in plays),
        "timeRangeSeconds": scene.time_range_s,
        "refreshSeconds": scene.refresh_s,
        "scrapeSeconds": scene.scrape_s,
        "nodes": _nodes(scene, comparison, plays),
        "rollouts": _rollouts(scene, plays, comparison),
        "plays": [_play(comparison, play) for play in plays],
        "others": [_other(name, comparison, of) for name, of in others.items()],
    }


def _nodes(scene: Scene, comparison: Comparison, plays: Sequence[Live]) -> list[Json]:
    return [
        {
            "node": machine.name,
            "cores": machine.cores,
            "least": int(comparison.least[i]),
            "most": int(comparison.most[i]),
            "mean": round(float(comparison.mean[i]), 2),
            "live": [int(play.placements.by_node[i]) for play in plays],
        }
        for i, machine in enumerate(scene.machines)
    ]


def _rollouts(scene: Scene, plays: Sequence[Live], comparison: Comparison) -> list[Json]:
    return [
        {
            "at": rollout.at_s,
            "app": rollout.app,
            "pods": rollout.pods,
            "mean": [round(float(mean), 2) for mean in comparison.mean_by_rollout[i]],
            "live": [play.placements.counts[i].tolist() for play in plays],
        }
        for i, rollout in enumerate(scene.rollouts)
    ]


def _play(comparison: Comparison, play: Live) -> Json:
    measured = play.measured
    return {
        "holds": comparison.holds(play.placements),
        "distance": round(comparison.distance(play.placements), 3),
        "distanceByRollout": round(comparison.distance_by_rollout(play.placements), 3),
        "lateSeconds": round(measured.late_s, 2),
        "readySeconds": round(measured.ready_s, 2),
        "looks": measured.looks,
    }


def _other(name: str, comparison: Comparison, plays: Sequence[Placements]) -> Json:
    distance = [comparison.distance(play) for play in plays]
    by_rollout = [comparison.distance_by_rollout(play) for play in plays]
    return {
        "name": name,
        "plays": len(plays),
        "passed": round(comparison.share_within(plays), 3),
        "distance": _summary(distance),
        "distanceByRollout": _summary(by_rollout),
    }


def _summary(values: Sequence[float]) -> Json:
    return {"mean": round(float(np.mean(values)), 3), "p95": round(float(np.percentile(values, 95)), 3)}
