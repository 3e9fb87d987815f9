"""The SchedulingPolicies as they are now: from kopf's events and the sweep into what is in force."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plimsoll.errors import PolicyError
from plimsoll.policy.compile import compile_policy
from plimsoll.policy.compiled import Policy
from plimsoll.runtime.known import Known
from plimsoll.scheduling.scheduler import Scheduler

Json = dict[str, Any]

log = logging.getLogger(__name__)


@dataclass(slots=True)
class PolicyEntry:
    """One object.

    Attributes:
        policy: what is in force; None where nothing of it can be.
        error: why not.
        status: as it was read or written last.
    """

    name: str
    uid: str
    generation: int
    policy: Policy | None
    error: PolicyError | None
    status: Mapping[str, Any] | None


class PolicyBook:
    """Every policy by name, compiled once per generation.

    Our own status writes come back as events, too; as the generation is the same, they wake nobody.

    Args:
        changed: told the name after a policy was added, its spec changed, or it was deleted.
    """

    def __init__(
        self, scheduler: Scheduler, *, changed: Callable[[str], None], repaired: Callable[[], None] = lambda: None
    ) -> None:
        self._scheduler = scheduler
        self._changed = changed
        self._entries: dict[str, PolicyEntry] = {}
        self._known = Known(on_seen=self._on_seen, on_gone=self._on_gone, repaired=repaired)
        self.gone = self._known.gone
        self.sweep_begins = self._known.sweep_begins
        self.swept = self._known.swept
        self.sweep_ends = self._known.sweep_ends

    def __iter__(self) -> Iterator[PolicyEntry]:
        return iter(list(self._entries.values()))

    def get(self, name: str) -> PolicyEntry | None:
        return self._entries.get(name)

    def seen(self, raw: Json) -> None:
        self._known.seen(raw)

    def _on_seen(self, raw: Json) -> None:
        metadata = raw["metadata"]
        name, uid, generation = metadata["name"], metadata["uid"], int(metadata.get("generation") or 0)
        known = self._entries.get(name)
        if known and (known.uid, known.generation) == (uid, generation):
            known.status = raw.get("status")
            return
        policy, error = _compiled(raw)
        self._entries[name] = PolicyEntry(name, uid, generation, policy, error, raw.get("status"))
        self._in_force(name)

    def _on_gone(self, uid: str) -> None:
        # A policy that was recreated under its name is there already when the old one's end is heard of.
        for name in [name for name, entry in self._entries.items() if entry.uid == uid]:
            del self._entries[name]
            log.info("policy is gone", extra={"policy": name})
            self._in_force(name)

    def _in_force(self, name: str) -> None:
        policies = [entry.policy for entry in self._entries.values() if entry.policy]
        self._scheduler.policies_changed(policies, now_s=time.time())
        self._changed(name)


def _compiled(raw: Json) -> tuple[Policy | None, PolicyError | None]:
    name = raw["metadata"]["name"]
    try:
        policy = compile_policy(raw)
    except PolicyError as error:
        log.warning("policy cannot be put in force: %s", error, extra={"policy": name})
        return None, error
    log.info("policy is in force", extra={"policy": name, "generation": policy.generation})
    return policy, None
