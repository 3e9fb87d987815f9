from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from benchmarks.quality.live_check.live import Live

# Two plays of about five minutes each.
pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1200)]


def test_each_nodes_count_lies_within_the_range_of_twenty_seeds(tmp_path: Path) -> None:
    from benchmarks.quality.live_check.check import check, compared
    from benchmarks.quality.live_check.scene import SCENE
    from benchmarks.quality.live_check.section import section

    comparison = compared(SCENE)
    plays = [_play(tmp_path / "first")]
    # Of plays that are fair one in 25 to 50 lies outside the range by chance: of the simulator's own seeds as many do.
    # Twice in a row is hardly chance any more, and what places pods otherwise is outside each time.
    if not comparison.holds(plays[0].placements):
        plays.append(_play(tmp_path / "second"))
    # The tables say more than a list of eight answers.
    assert comparison.holds(plays[-1].placements), section(check(SCENE, comparison, plays))


def _play(directory: Path) -> Live:
    from benchmarks.quality.live_check import live
    from benchmarks.quality.live_check.scene import SCENE

    directory.mkdir()
    return live.play(SCENE, directory=directory, say=print)
