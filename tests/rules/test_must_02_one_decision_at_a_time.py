from __future__ import annotations

import asyncio

from plimsoll.kube.client import ApiClient
from plimsoll.kube.lease import LeaseElector, LeaseTimes
from plimsoll.runtime.leadership import Leadership
from tests.builders import make_node, make_pod
from tests.kube.api_server import ApiServer
from tests.kube.tasks import ended
from tests.rules.asking import cluster


def test_the_next_decision_sees_what_the_last_one_took() -> None:
    world = cluster(make_node("n1").offers(cpu="1"))
    assert world.decide(make_pod("first").cpu("1")).node == "n1"
    assert world.decide(make_pod("second").cpu("1")).node == ""


def test_a_binding_that_fails_gives_back_what_was_assumed() -> None:
    world = cluster(make_node("n1").offers(cpu="1"))
    first = make_pod("first").cpu("1")
    world.decide(first)
    world.bind_failed(first, retry=False)
    assert world.decide(make_pod("second").cpu("1")).node == "n1"


def test_what_the_watch_confirms_counts_once() -> None:
    world = cluster(make_node("n1").offers(cpu="2"))
    first = make_pod("first").cpu("1")
    world.places(first)
    world.assigned(make_pod("first").cpu("1").on("n1"))
    assert world.decide(make_pod("second").cpu("1")).node == "n1"


class Mirror:
    """A cache that is brought up to date when it is let."""

    def __init__(self) -> None:
        self.current = asyncio.Event()

    async def catch_up(self, *, within_s: float) -> None:
        await self.current.wait()


class Holder:
    leading = True


async def test_nothing_is_decided_before_the_caches_are_current() -> None:
    decides = asyncio.Event()
    leadership = Leadership(Holder(), changed=lambda: leadership.may_decide and decides.set())
    mirror = Mirror()
    task = asyncio.create_task(leadership.run(mirrors=[mirror], sweeps=[]))
    leadership.turned()
    await asyncio.sleep(0.01)
    assert not leadership.may_decide
    mirror.current.set()
    await asyncio.wait_for(decides.wait(), timeout=5)
    await ended(task)


async def test_one_process_alone_holds_the_lease(server: ApiServer, client: ApiClient) -> None:
    first, second = (
        LeaseElector(
            client,
            namespace="ns",
            name="plimsoll",
            identity=identity,
            changed=lambda: None,
            times=LeaseTimes(duration_s=15, renew_deadline_s=10, retry_s=2),
        )
        for identity in ("first", "second")
    )
    assert await first.attempt()
    assert not await second.attempt()
    assert (first.leading, second.leading) == (True, False)
