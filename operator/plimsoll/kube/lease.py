"""Leader election by a Lease, by the rules of client-go: who holds it binds, the others stand by.

A lease of others is judged by how long ago this process saw it change, never by the times written in it:
clocks differ. One's own is judged by when the last successful renewal was *sent*.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plimsoll.cluster.times import timestamp_micro
from plimsoll.errors import ApiError, Conflict, Forbidden, NotFound
from plimsoll.kube.client import ApiClient
from plimsoll.kube.resources import LEASES

Json = dict[str, Any]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LeaseTimes:
    """client-go's defaults.

    Attributes:
        duration_s: how long after the last renewal others wait.
        renew_deadline_s: how long the holder goes on without a renewal that succeeds.
        retry_s: between two tries.
    """

    duration_s: float = 15.0
    renew_deadline_s: float = 10.0
    retry_s: float = 2.0

    @property
    def request_timeout_s(self) -> float:
        """What a holder sends at its deadline is over before another may take the lease."""
        return 0.9 * (self.duration_s - self.renew_deadline_s)


class LeaseElector:
    """Holds the Lease, or waits for it.

    Attributes:
        holder: who holds it as far as is known; "" if nobody.

    Args:
        changed: called, without arguments, at once when leading begins or ends.
    """

    def __init__(
        self,
        client: ApiClient,
        *,
        namespace: str,
        name: str,
        identity: str,
        changed: Callable[[], None] = lambda: None,
        times: LeaseTimes | None = None,
        clock: Callable[[], float] = time.monotonic,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self.identity = identity
        self.holder = ""
        self._client = client
        self._collection = LEASES.path(namespace=namespace)
        self._path = LEASES.path(namespace=namespace, name=name)
        self._metadata = {"name": name, "namespace": namespace}
        self._changed = changed
        self._times = times or LeaseTimes()
        self._clock = clock
        self._now_s = now_s
        self._record: Json | None = None
        self._seen_change_s = clock()
        self._renewed_s = float("-inf")
        self._leading = False

    @property
    def leading(self) -> bool:
        """Whether anything may be written now; by the clock, so that a stalled loop is not late to notice."""
        return self._leading and self._clock() - self._renewed_s < self._times.renew_deadline_s

    async def run(self) -> None:
        """Until cancelled, after a first ``attempt``; ``release`` is up to the caller, after the last write."""
        while True:
            await asyncio.sleep(self._times.retry_s * random.uniform(1.0, 1.2))  # noqa: S311
            await self.attempt()

    async def attempt(self) -> bool:
        """One try to take or to renew; True if the lease is held now."""
        sent_s = self._clock()
        try:
            held = await self._take_or_renew()
        except Conflict:
            held = False  # somebody else wrote at the same time; the next try reads who
        except ApiError as error:
            self._report(error)
            held = False
        if held:
            self._renewed_s = sent_s
            self._set_leading(leading=True)
        elif not self.leading or self._taken_by_other():
            self._set_leading(leading=False)
        return self.leading

    async def release(self) -> None:
        """Lets the lease go, so that another takes it at once; only after the last write was answered."""
        if not self.leading or self._record is None:
            return
        self.holder = ""
        self._set_leading(leading=False)
        try:
            await self._put(self._spec(holder="", duration_s=1))
        except ApiError as error:
            log.warning("lease could not be released, others wait until it expires: %s", error)

    async def _take_or_renew(self) -> bool:
        if self._leading and self._record is not None:
            # Most renewals need no read; one that was overtaken goes on as any other try.
            with contextlib.suppress(Conflict):
                return await self._put(self._spec(holder=self.identity))
        try:
            self._observe(await self._client.get(self._path, timeout_s=self._times.request_timeout_s))
        except NotFound:
            return await self._create()
        if self.holder not in {"", self.identity} and not self._expired():
            return False
        return await self._put(self._spec(holder=self.identity))

    async def _create(self) -> bool:
        lease = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": self._metadata,
            "spec": self._spec(holder=self.identity),
        }
        answer = await self._client.post(self._collection, lease, timeout_s=self._times.request_timeout_s)
        self._observe(answer)
        return True

    async def _put(self, spec: Json) -> bool:
        """With the version that was read: of two who write at a time, one gets a Conflict."""
        assert self._record is not None
        lease = self._record | {"spec": spec}
        self._observe(await self._client.put(self._path, lease, timeout_s=self._times.request_timeout_s))
        return True

    def _observe(self, lease: Json) -> None:
        if self._record is None or lease.get("spec") != self._record.get("spec"):
            self._seen_change_s = self._clock()
        self._record = lease
        self.holder = str((lease.get("spec") or {}).get("holderIdentity") or "")

    def _expired(self) -> bool:
        spec = (self._record or {}).get("spec") or {}
        duration_s = float(spec.get("leaseDurationSeconds") or self._times.duration_s)
        return self._clock() - self._seen_change_s >= duration_s

    def _spec(self, *, holder: str, duration_s: float | None = None) -> Json:
        before: Json = (self._record or {}).get("spec") or {}
        now = timestamp_micro(self._now_s())
        continued = before.get("holderIdentity") == holder
        transitions = int(before.get("leaseTransitions") or 0)
        # client-go counts a transition where the lease passes to somebody, not where it is let go.
        passed_on = bool(before) and not continued and bool(holder)
        return {
            "holderIdentity": holder,
            "leaseDurationSeconds": round(duration_s or self._times.duration_s),
            "acquireTime": before.get("acquireTime", now) if continued else now,
            "renewTime": now,
            "leaseTransitions": transitions + passed_on,
        }

    def _taken_by_other(self) -> bool:
        return self._record is not None and self.holder != self.identity

    def _set_leading(self, *, leading: bool) -> None:
        if leading == self._leading:
            return
        self._leading = leading
        log.info("leading" if leading else "standing by", extra={"holder": self.holder, "lease": self._path})
        self._changed()

    def _report(self, error: ApiError) -> None:
        mend = ": grant get, create and update on leases" if isinstance(error, Forbidden) else ""
        log.warning("lease could not be read or renewed: %s%s", error, mend)
