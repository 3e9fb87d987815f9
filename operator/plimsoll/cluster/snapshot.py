"""The Snapshot: what the cluster offers and what is taken of it, as arrays over nodes.

The arrays are live: only ``cluster/cache.py`` writes them, between decisions. A node keeps its row as long as
it exists; the row of a deleted node is used again. ``live`` says which rows hold a node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.assumed_volumes import AssumedVolumes
from plimsoll.cluster.domains import Domains
from plimsoll.cluster.held import HeldByPriority
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.nominations import Nominations
from plimsoll.cluster.objects import Objects
from plimsoll.cluster.pod_counts import PodCounts
from plimsoll.cluster.port_index import PortIndex
from plimsoll.cluster.residents import Residents
from plimsoll.cluster.resource_claims import ResourceClaims
from plimsoll.cluster.resources import BASIC, CPU, MEMORY, PODS
from plimsoll.cluster.row_log import RowLog
from plimsoll.cluster.services import Services
from plimsoll.cluster.storage.store import Storage
from plimsoll.cluster.term_index import TermIndex
from plimsoll.cluster.workload_index import WorkloadIndex

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

CPU_COLUMN, MEMORY_COLUMN, PODS_COLUMN = (BASIC.index(name) for name in (CPU, MEMORY, PODS))
_FIRST_ROWS = 16
# A pod that names its node itself may ask for anything, and as many as like may do so. What is beyond this is kept
# apart, so that a row never overflows; half of what an int64 holds leaves room for differences.
_MOST = 2**62


class Snapshot:
    """Struct of arrays over N rows and R resources.

    Attributes:
        nodes: the node of each row, None in a free row.
        row_of: row by node name.
        topology: goes up with every node that comes, goes or changes; what is derived from nodes hangs on it.
        membership: goes up with every node that comes or goes; what only stands in the order of rows hangs on it.
        changed: rows whose node, or whose pods, are others.
        zoning: goes up whenever a node comes to be in another zone.
        columns: resource column by name; cpu in milli, else base units; ``pods`` counts pods.
        workloads: replicas of one workload, by row.
        ports: host ports in use, by row.
        held: what pods of each priority request, by row.
        namespaces: labels by name.
        domains: topology domains of the nodes, by label.
        pods: pods that a selector selects, by row.
        terms: affinity terms of the pods on the nodes.
        objects: what needs no index, by kind.
        services: services and controllers, for the default spreading of the pods that they select.
        assumed_volumes: volumes and claims as they will be once what was decided about them is written.
        storage: volumes, claims, classes, what CSI drivers say, and what pods on the nodes mount.
        resource_claims: by namespace and name.
        residents: pods by node.
        nominated: pending pods that preemption has made room for, by node.
    """

    def __init__(self) -> None:
        self.nodes: list[NodeInfo | None] = []
        self.row_of: dict[str, int] = {}
        self.topology = 0
        self.membership = 0
        self.changed = RowLog()
        self.zoning = 0
        self.columns: dict[str, int] = {name: i for i, name in enumerate(BASIC)}
        self.workloads = WorkloadIndex()
        self.ports = PortIndex()
        self.held = HeldByPriority()
        self.namespaces: dict[str, Mapping[str, str]] = {}
        self.domains = Domains()
        self.pods = PodCounts(self.namespaces)
        self.terms = TermIndex(self.namespaces)
        self.objects = Objects()
        self.services = Services()
        self.storage = Storage()
        self.resource_claims = ResourceClaims()
        self.nominated = Nominations()
        self.residents = Residents()
        self.assumed_volumes = AssumedVolumes()
        self._live = np.zeros(_FIRST_ROWS, dtype=np.bool_)
        self._version = np.zeros(_FIRST_ROWS, dtype=np.int64)
        self._allocatable = np.zeros((_FIRST_ROWS, len(BASIC)), dtype=np.int64)
        self._requested = np.zeros((_FIRST_ROWS, len(BASIC)), dtype=np.int64)
        self._beyond: dict[tuple[int, int], int] = {}
        self._zone = np.zeros(_FIRST_ROWS, dtype=np.int64)
        self._zone_ids: dict[str, int] = {"": 0}
        self._free: list[int] = []

    @property
    def size(self) -> int:
        """N: rows, free ones included."""
        return len(self.nodes)

    @property
    def live(self) -> Bools:
        """[N], True where the row holds a node."""
        return self._live[: self.size]

    @property
    def version(self) -> Ints:
        """[N], the ``topology`` at which the row's node last changed."""
        return self._version[: self.size]

    @property
    def allocatable(self) -> Ints:
        """[N, R]."""
        return self._allocatable[: self.size]

    @property
    def requested(self) -> Ints:
        """[N, R], by all pods that are assigned or assumed, whoever bound them; at most 2**62."""
        return self._requested[: self.size]

    @property
    def zone(self) -> Ints:
        """[N], a number from 1 per zone, 0 for nodes without one."""
        return self._zone[: self.size]

    @property
    def zones(self) -> int:
        """How many zones have been seen."""
        return len(self._zone_ids) - 1

    def live_nodes(self) -> Iterator[tuple[int, NodeInfo]]:
        return ((row, node) for row, node in enumerate(self.nodes) if node is not None)

    def name(self, row: int) -> str:
        node = self.nodes[row]
        return "" if node is None else node.name

    # -- written by the cache only --------------------------------------------------------------------

    def put(self, node: NodeInfo) -> int:
        """Sets the node's row, a new one if need be; what pods take of it is kept."""
        row = self.row_of.get(node.name)
        if row is None:
            row = self._take_row()
            self.row_of[node.name] = row
            self.membership += 1
        self.nodes[row] = node
        self.topology += 1
        self._live[row] = True
        self._version[row] = self.topology
        self._enter_zone(row, node.zone)
        self._allocatable[row] = 0
        for name, value in node.allocatable.items():
            # The column first: a new resource makes new arrays.
            column = self._column(name)
            self._allocatable[row, column] = value
        self.changed.mark(row)
        self.domains.put(row, node.labels)
        self.pods.reserve(self.size)
        return row

    def drop(self, name: str) -> None:
        """Frees the node's row; the cache has taken its pods off before."""
        row = self.row_of.pop(name)
        self.nodes[row] = None
        self.topology += 1
        self.membership += 1
        self._live[row] = False
        self._version[row] = self.topology
        self._allocatable[row] = 0
        self._requested[row] = 0
        self.changed.mark(row)
        self.domains.put(row, {})
        self._free.append(row)

    def take(self, row: int, requests: Mapping[str, int], *, sign: int) -> None:
        """Adds (+1) or takes away (-1) one pod's requests."""
        for name, value in requests.items():
            self._add(row, self._column(name), sign * value)
        self._requested[row, PODS_COLUMN] += sign
        self.changed.mark(row)

    def _add(self, row: int, column: int, amount: int) -> None:
        """Exact however large the sum is, so that pods that go leave what the others take."""
        total = int(self._requested[row, column]) + self._beyond.pop((row, column), 0) + amount
        shown = max(-_MOST, min(total, _MOST))
        if total != shown:
            self._beyond[row, column] = total - shown
        self._requested[row, column] = shown

    def _enter_zone(self, row: int, name: str) -> None:
        zone = self._zone_ids.setdefault(name, len(self._zone_ids))
        if zone != self._zone[row]:
            self._zone[row] = zone
            self.zoning += 1

    def _take_row(self) -> int:
        if self._free:
            return self._free.pop()
        if self.size == len(self._live):
            self._grow()
        self.nodes.append(None)
        return self.size - 1

    def _grow(self) -> None:
        """Doubles, so that a cluster of N nodes costs O(N) copies while it is listed."""
        self._live = np.concatenate((self._live, np.zeros_like(self._live)))
        self._version = np.concatenate((self._version, np.zeros_like(self._version)))
        self._zone = np.concatenate((self._zone, np.zeros_like(self._zone)))
        self._allocatable = np.concatenate((self._allocatable, np.zeros_like(self._allocatable)))
        self._requested = np.concatenate((self._requested, np.zeros_like(self._requested)))

    def _column(self, name: str) -> int:
        if name not in self.columns:
            self.columns[name] = len(self.columns)
            blank = np.zeros((len(self._live), 1), dtype=np.int64)
            self._allocatable = np.hstack((self._allocatable, blank))
            self._requested = np.hstack((self._requested, blank))
        return self.columns[name]
