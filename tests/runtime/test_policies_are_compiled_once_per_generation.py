from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.runtime.policies import PolicyBook
from plimsoll.scheduling.scheduler import Scheduler

Make = Callable[..., dict[str, Any]]


@pytest.fixture
def changed() -> list[str]:
    return []


@pytest.fixture
def book(scheduler: Scheduler, changed: list[str]) -> PolicyBook:
    return PolicyBook(scheduler, changed=changed.append)


def _in_force(scheduler: Scheduler, name: str) -> bool:
    return scheduler.overview(name, now_s=time.time()) is not None


def test_a_policy_that_is_seen_is_in_force(
    scheduler: Scheduler, book: PolicyBook, changed: list[str], policy_object: Make
) -> None:
    book.seen(policy_object("p", priority=7))
    assert changed == ["p"]
    overview = scheduler.overview("p", now_s=time.time())
    assert overview
    assert overview.policy.priority == 7


def test_our_own_status_write_wakes_nobody(
    scheduler: Scheduler, book: PolicyBook, changed: list[str], policy_object: Make
) -> None:
    book.seen(policy_object("p", version=1))
    book.seen(policy_object("p", version=2, status={"bound": 3}))
    assert changed == ["p"]
    entry = book.get("p")
    assert entry
    assert entry.status == {"bound": 3}


def test_a_changed_spec_is_in_force_at_once(
    scheduler: Scheduler, book: PolicyBook, changed: list[str], policy_object: Make
) -> None:
    book.seen(policy_object("p", priority=1))
    book.seen(policy_object("p", priority=2, generation=2, version=2))
    assert changed == ["p", "p"]
    overview = scheduler.overview("p", now_s=time.time())
    assert overview
    assert (overview.policy.priority, overview.policy.generation) == (2, 2)


def test_a_policy_that_is_gone_is_no_longer_in_force(
    scheduler: Scheduler, book: PolicyBook, changed: list[str], policy_object: Make
) -> None:
    book.seen(policy_object("p"))
    book.gone(policy_object("p", version=2))
    assert not _in_force(scheduler, "p")
    assert book.get("p") is None
    assert changed == ["p", "p"]


def test_a_policy_that_cannot_be_read_is_kept_with_its_error_and_the_others_go_on(
    scheduler: Scheduler, book: PolicyBook, policy_object: Make
) -> None:
    book.seen(policy_object("bad", podSelector="everything"))
    book.seen(policy_object("good"))
    entry = book.get("bad")
    assert entry
    assert entry.policy is None
    assert entry.error
    assert entry.error.field == "spec.podSelector"
    assert not _in_force(scheduler, "bad")
    assert _in_force(scheduler, "good")


def test_a_policy_recreated_under_its_name_survives_the_end_of_the_first(
    scheduler: Scheduler, book: PolicyBook, policy_object: Make
) -> None:
    first, second = policy_object("p"), policy_object("p", priority=5, version=3)
    second["metadata"]["uid"] = "another"
    book.seen(first)
    book.seen(second)
    book.gone(first)
    overview = scheduler.overview("p", now_s=time.time())
    assert overview
    assert overview.policy.priority == 5
