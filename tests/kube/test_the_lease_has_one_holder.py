from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from plimsoll.kube.client import ApiClient
from plimsoll.kube.lease import LeaseElector, LeaseTimes
from tests.kube.api_server import ApiServer

LEASE = "/apis/coordination.k8s.io/v1/namespaces/ns/leases/plimsoll"
WALL_S = 1_763_700_000.25


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


Elector = Callable[..., LeaseElector]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def elector(client: ApiClient, clock: Clock) -> Elector:
    def make(identity: str, *, changed: Callable[[], None] = lambda: None, clock: Clock = clock) -> LeaseElector:
        return LeaseElector(
            client,
            namespace="ns",
            name="plimsoll",
            identity=identity,
            changed=changed,
            times=LeaseTimes(duration_s=15, renew_deadline_s=10, retry_s=2),
            clock=clock,
            now_s=lambda: WALL_S + clock.now_s - 100,
        )

    return make


async def test_a_lease_that_is_not_there_is_made(server: ApiServer, elector: Elector) -> None:
    first = elector("first")
    assert await first.attempt()
    assert first.leading
    spec = server.objects[LEASE]["spec"]
    assert spec["holderIdentity"] == "first"
    assert spec["leaseDurationSeconds"] == 15
    assert spec["leaseTransitions"] == 0
    assert spec["acquireTime"] == spec["renewTime"] == "2025-11-21T04:40:00.250000Z"
    assert datetime.fromisoformat(spec["renewTime"]).timestamp() == WALL_S


async def test_only_one_of_two_holds_it(elector: Elector) -> None:
    first, second = elector("first"), elector("second")
    assert await first.attempt()
    assert not await second.attempt()
    assert not second.leading
    assert second.holder == "first"


async def test_a_holder_that_renews_keeps_it(elector: Elector, clock: Clock) -> None:
    first, second = elector("first"), elector("second")
    for _ in range(20):
        assert await first.attempt()
        assert not await second.attempt()
        clock.now_s += 2


async def test_a_lease_that_has_not_changed_for_its_duration_is_taken(
    server: ApiServer, elector: Elector, clock: Clock
) -> None:
    first, second = elector("first"), elector("second")
    await first.attempt()
    assert not await second.attempt()
    clock.now_s += 14.9
    assert not await second.attempt()
    clock.now_s += 0.2
    assert await second.attempt()
    assert not first.leading
    spec = server.objects[LEASE]["spec"]
    assert (spec["holderIdentity"], spec["leaseTransitions"]) == ("second", 1)


async def test_the_times_that_others_wrote_are_not_believed(server: ApiServer, elector: Elector, clock: Clock) -> None:
    long_ago = "2001-01-01T00:00:00.000000Z"
    spec = {"holderIdentity": "other", "leaseDurationSeconds": 15, "renewTime": long_ago, "acquireTime": long_ago}
    await server.put(LEASE, {"spec": spec})
    second = elector("second")
    assert not await second.attempt()
    clock.now_s += 15
    assert await second.attempt()


async def test_the_duration_that_the_holder_chose_counts(server: ApiServer, elector: Elector, clock: Clock) -> None:
    await server.put(LEASE, {"spec": {"holderIdentity": "other", "leaseDurationSeconds": 60}})
    second = elector("second")
    await second.attempt()
    clock.now_s += 59
    assert not await second.attempt()
    clock.now_s += 1
    assert await second.attempt()


async def test_of_two_that_take_it_at_once_one_gets_it(server: ApiServer, elector: Elector, clock: Clock) -> None:
    await server.put(LEASE, {"spec": {"holderIdentity": ""}})
    first, second = elector("first"), elector("second")
    server.fail("PUT", LEASE, status=409, message="the object has been modified")
    assert not await first.attempt()
    assert await second.attempt()
    assert not await first.attempt()


async def test_leading_ends_at_the_deadline_without_anybody_saying_so(
    server: ApiServer, elector: Elector, clock: Clock
) -> None:
    first = elector("first")
    await first.attempt()
    server.fail("PUT", LEASE, status=500, times=100)
    server.fail("GET", LEASE, status=500, times=100)
    clock.now_s += 9.9
    assert await first.attempt()
    clock.now_s += 0.1
    assert not first.leading


async def test_a_renewal_counts_from_when_it_was_sent(
    server: ApiServer, elector: Elector, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = elector("first")
    put = server.put

    async def slow(path: str, body: dict[str, object]) -> dict[str, object]:
        clock.now_s += 4
        return await put(path, body)

    monkeypatch.setattr(server, "put", slow)
    await first.attempt()
    clock.now_s += 6
    assert not first.leading


async def test_each_turn_is_told_at_once(server: ApiServer, elector: Elector, clock: Clock) -> None:
    turns: list[str] = []
    first = elector("first", changed=lambda: turns.append("turn"))
    await first.attempt()
    await first.attempt()
    assert turns == ["turn"]
    server.fail("PUT", LEASE, status=500, times=1)
    clock.now_s += 10
    await first.attempt()
    assert turns == ["turn"] * 2
    await first.attempt()
    assert turns == ["turn"] * 3
    assert first.leading


async def test_a_holder_that_was_overtaken_stands_by(elector: Elector, clock: Clock) -> None:
    first, second = elector("first"), elector("second")
    await first.attempt()
    await second.attempt()
    clock.now_s += 15
    assert await second.attempt()
    assert not await first.attempt()
    assert first.holder == "second"


async def test_an_edit_by_somebody_else_does_not_cost_the_lease(server: ApiServer, elector: Elector) -> None:
    first = elector("first")
    await first.attempt()
    await server.put(LEASE, {**server.objects[LEASE], "metadata": {"annotations": {"a": "b"}}})
    assert await first.attempt()
    assert server.objects[LEASE]["metadata"]["annotations"] == {"a": "b"}


async def test_what_is_released_is_taken_at_once(server: ApiServer, elector: Elector) -> None:
    first, second = elector("first"), elector("second")
    await first.attempt()
    assert not await second.attempt()
    await first.release()
    assert not first.leading
    assert server.objects[LEASE]["spec"]["holderIdentity"] == ""
    assert await second.attempt()
    assert server.objects[LEASE]["spec"]["leaseTransitions"] == 1


async def test_only_the_holder_releases(server: ApiServer, elector: Elector) -> None:
    first, second = elector("first"), elector("second")
    await first.attempt()
    await second.attempt()
    await second.release()
    assert server.objects[LEASE]["spec"]["holderIdentity"] == "first"


def test_requests_end_before_others_may_take_the_lease() -> None:
    times = LeaseTimes()
    assert times.renew_deadline_s + times.request_timeout_s < times.duration_s
