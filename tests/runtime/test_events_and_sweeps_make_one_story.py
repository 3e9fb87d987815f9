from __future__ import annotations

from typing import Any

import pytest

from plimsoll.runtime.known import Known

Json = dict[str, Any]


class Story:
    def __init__(self) -> None:
        self.told: list[str] = []
        self.repairs = 0
        self.known = Known(on_seen=self._seen, on_gone=self._gone, repaired=self._repaired)

    def _seen(self, raw: Json) -> None:
        self.told.append(f"seen {raw['metadata']['uid']}@{raw['metadata']['resourceVersion']}")

    def _gone(self, uid: str) -> None:
        self.told.append(f"gone {uid}")

    def _repaired(self) -> None:
        self.repairs += 1

    def sweep(self, *objects: Json) -> None:
        self.known.sweep_begins()
        for raw in objects:
            self.known.swept(raw)
        self.known.sweep_ends()


@pytest.fixture
def story() -> Story:
    return Story()


def _object(uid: str, version: int) -> Json:
    return {"metadata": {"uid": uid, "resourceVersion": str(version)}}


def test_what_is_delivered_again_is_no_news(story: Story) -> None:
    story.known.seen(_object("a", 1))
    story.known.seen(_object("a", 1))
    story.known.seen(_object("a", 2))
    assert story.told == ["seen a@1", "seen a@2"]


def test_what_is_older_than_what_is_known_is_no_news(story: Story) -> None:
    story.known.seen(_object("a", 10))
    story.known.seen(_object("a", 9))
    assert story.told == ["seen a@10"]


def test_a_deletion_is_told_once(story: Story) -> None:
    story.known.seen(_object("a", 1))
    story.known.gone(_object("a", 2))
    story.known.gone(_object("a", 2))
    assert story.told == ["seen a@1", "gone a"]


def test_the_first_sweep_finds_everything_and_repairs_nothing(story: Story) -> None:
    story.sweep(_object("a", 1), _object("b", 2))
    assert story.told == ["seen a@1", "seen b@2"]
    assert story.repairs == 0


def test_a_sweep_tells_what_events_have_missed(story: Story) -> None:
    story.sweep(_object("ghost", 1), _object("stale", 2), _object("kept", 3))
    story.sweep(_object("stale", 5), _object("kept", 3), _object("new", 6))
    assert story.told[3:] == ["seen stale@5", "seen new@6", "gone ghost"]
    assert story.repairs == 3


def test_what_comes_while_a_list_is_read_is_newer_than_the_list(story: Story) -> None:
    story.sweep()
    story.known.sweep_begins()
    story.known.seen(_object("new", 9))
    story.known.sweep_ends()
    assert story.told == ["seen new@9"]
    assert "new" in story.known


def test_what_goes_while_a_list_is_read_stays_gone(story: Story) -> None:
    story.sweep(_object("a", 1))
    story.known.sweep_begins()
    story.known.gone(_object("a", 2))
    story.known.swept(_object("a", 1))
    story.known.sweep_ends()
    assert story.told == ["seen a@1", "gone a"]
    assert len(story.known) == 0


def test_what_goes_after_the_list_had_it_stays_gone(story: Story) -> None:
    story.sweep(_object("a", 1))
    story.known.sweep_begins()
    story.known.swept(_object("a", 1))
    story.known.gone(_object("a", 2))
    story.known.sweep_ends()
    assert story.told == ["seen a@1", "gone a"]


def test_a_sweep_that_broke_off_takes_nothing_for_gone(story: Story) -> None:
    story.sweep(_object("a", 1), _object("b", 2))
    story.known.sweep_begins()
    story.known.swept(_object("a", 1))
    story.sweep(_object("a", 1), _object("b", 2))
    assert story.told == ["seen a@1", "seen b@2"]
