from __future__ import annotations

from dataclasses import dataclass

import hypothesis.strategies as st
from hypothesis import given

from plimsoll.cluster.selectors import Labels, LabelSelector
from tests import crowds


@dataclass(frozen=True)
class Thing:
    labels: Labels


@given(crowds.selectors, st.lists(st.builds(Thing, crowds.labels), max_size=20))
def test_the_same_are_selected_as_one_by_one(selector: dict[str, object], things: list[Thing]) -> None:
    parsed = LabelSelector.parse(selector)
    assert parsed.matching(things) == [thing for thing in things if parsed.matches(thing.labels)]
