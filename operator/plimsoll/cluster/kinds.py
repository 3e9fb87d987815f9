"""The kinds of API objects that scheduling asks about, beside nodes, pods and namespaces."""

from __future__ import annotations

from functools import partial

from plimsoll.cluster.budgets import KIND as BUDGET
from plimsoll.cluster.budgets import DisruptionBudget
from plimsoll.cluster.objects import Kind
from plimsoll.cluster.resource_claims import RESOURCE_CLAIM_KIND
from plimsoll.cluster.services import (
    REPLICA_SET,
    REPLICATION_CONTROLLER,
    SERVICE,
    STATEFUL_SET,
    Controller,
    Service,
)
from plimsoll.cluster.storage.kinds import STORAGE_KINDS

_KINDS: tuple[Kind, ...] = (
    *STORAGE_KINDS,
    RESOURCE_CLAIM_KIND,
    Kind(BUDGET, DisruptionBudget.parse),
    Kind(SERVICE, Service.parse, store="services"),
    Kind(REPLICA_SET, partial(Controller.parse, kind=REPLICA_SET), store="services"),
    Kind(STATEFUL_SET, partial(Controller.parse, kind=STATEFUL_SET), store="services"),
    Kind(REPLICATION_CONTROLLER, partial(Controller.parse, kind=REPLICATION_CONTROLLER), store="services"),
)

KINDS: dict[str, Kind] = {kind.name: kind for kind in _KINDS}
