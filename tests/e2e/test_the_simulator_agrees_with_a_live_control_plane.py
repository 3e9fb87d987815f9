from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


def test_each_nodes_count_lies_within_the_range_of_twenty_seeds(tmp_path: Path) -> None:
    from benchmarks.quality.live_check import live
    from benchmarks.quality.live_check.check import check, compared
    from benchmarks.quality.live_check.scene import SCENE
    from benchmarks.quality.live_check.section import section

    comparison = compared(SCENE)
    played = live.play(SCENE, directory=tmp_path, say=print)
    # The tables say more than a list of eight answers.
    assert comparison.holds(played.placements), section(check(SCENE, comparison, [played]))
