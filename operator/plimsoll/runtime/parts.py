"""Everything that runs, made and tied together; nothing runs yet."""

from __future__ import annotations

import socket
import uuid
from collections.abc import Callable, Coroutine
from typing import Any

import numpy as np
from kubernetes.client import ApiClient as OfficialClient
from prometheus_client import generate_latest

from plimsoll.cluster.kinds import KINDS
from plimsoll.cluster.pod import Uid
from plimsoll.kube import handlers, preflight
from plimsoll.kube.binding import Binder
from plimsoll.kube.client import ApiClient
from plimsoll.kube.connection import Connection
from plimsoll.kube.embedding import EmbeddedKopf
from plimsoll.kube.events import EventRecorder
from plimsoll.kube.eviction import Evictor
from plimsoll.kube.lease import LeaseElector
from plimsoll.kube.nominating import Nominator
from plimsoll.kube.pod_status import PodStatusWriter
from plimsoll.kube.policy_status import write_policy_status
from plimsoll.kube.reflector import Listener, Reflector
from plimsoll.kube.resource_claims import ReservationWriter
from plimsoll.kube.resources import (
    ASSIGNED_SELECTOR,
    MAY_LACK,
    MIRRORED,
    NAMESPACES,
    NODES,
    PODS,
    POLICIES,
    Resource,
    pending_selector,
)
from plimsoll.kube.sweep import Sweep
from plimsoll.kube.volumes import VolumeWriter
from plimsoll.policy.compiled import Policy
from plimsoll.reporting.explanation import explanation
from plimsoll.runtime.binds import BindPipeline
from plimsoll.runtime.evictions import Evictions
from plimsoll.runtime.leadership import Leadership
from plimsoll.runtime.loop import DecisionLoop
from plimsoll.runtime.mirror import ApiObjects, AssignedPods, Namespaces, Nodes
from plimsoll.runtime.observing import Counts, show_state, watch_holds, watch_stalls
from plimsoll.runtime.others import PlacedByOthers
from plimsoll.runtime.pending import PendingPods
from plimsoll.runtime.policies import PolicyBook, PolicyEntry
from plimsoll.runtime.prepare import Preparations
from plimsoll.runtime.refresh import Refresher
from plimsoll.runtime.reports import DecisionReports
from plimsoll.runtime.settings import Settings
from plimsoll.scheduling.decision import Bind
from plimsoll.scheduling.scheduler import Scheduler
from plimsoll.sources import Sources
from plimsoll.telemetry import Telemetry

Json = dict[str, Any]

# While kopf is down the sweeps stand in for it.
_SWEEP_INSTEAD_S = 5.0


class Parts:
    """One of each.

    Args:
        kopf_started: called each time that kopf has taken over the signals.
    """

    def __init__(self, settings: Settings, connection: Connection, *, kopf_started: Callable[[], None]) -> None:
        self.telemetry = Telemetry()
        self._settings = settings
        self._counts = Counts(self.telemetry)
        self.client = ApiClient(connection, observe=self._counts.request)
        self.scheduler = Scheduler(scheduler_name=settings.scheduler_name, rng=np.random.default_rng())
        self.elector = self._make_elector() if settings.leader_elect else None
        self.leadership = Leadership(self.elector, changed=self._leadership_changed)
        self.pending = PendingPods(self.scheduler, wake=self._wake)
        self.policies = PolicyBook(self.scheduler, changed=self._policy_changed)
        others = PlacedByOthers(self.scheduler, in_sync=self._in_sync, judged=self._counts.observed)
        self.assigned = AssignedPods(self.scheduler, wake=self._wake, before=others.seen)
        self.reflectors = self._make_reflectors()
        self.pod_sweep = self._make_sweep(
            PODS, self.pending, name="pending pods", selector=pending_selector(settings.scheduler_name)
        )
        self.policy_sweep = self._make_sweep(POLICIES, self.policies, name="policies")
        self.events = self._make_recorder()
        self.conditions = self._make_conditions()
        self.reports = self._make_reports()
        self.binds = self._make_binds()
        self.preparations = self._make_preparations()
        self.evictions = self._make_evictions()
        self.loop = DecisionLoop(
            scheduler=self.scheduler,
            binds=self.preparations,
            evictions=self.evictions,
            reports=self.reports,
            may_decide=lambda: self.leadership.may_decide,
        )
        self.sources = Sources(
            OfficialClient(connection.configuration),
            on_query=self._counts.source_query,
            on_look=self._counts.looked_at_pods,
        )
        self.refresher = self._make_refresher()
        self.kopf = EmbeddedKopf(
            handlers.make_registry(
                connection=connection, policies=self.policies, pods=self.pending, observe=self._counts.request
            ),
            handlers.make_settings(scheduler_name=settings.scheduler_name),
            started=kopf_started,
            ready=self._crd_installed,
        )

    def decisions(self, pod_key: str) -> Json:
        return explanation(pod_key, self.scheduler.decisions_of(pod_key))

    def metrics(self) -> bytes:
        show_state(
            self.telemetry,
            scheduler=self.scheduler,
            reflectors=self.reflectors,
            leading=self.leadership.leading,
        )
        self.telemetry.preparing_pods.set(self.preparations.under_way)
        self.telemetry.events_waiting.set(self.events.waiting)
        self.telemetry.events_lag.set(self.events.lag_s)
        return generate_latest(self.telemetry.registry)

    def watch_stalls(self) -> Coroutine[Any, Any, None]:
        return watch_stalls(self.telemetry)

    def watch_holds(self, *, ready: Callable[[], bool]) -> Coroutine[Any, Any, None]:
        return watch_holds(self.telemetry, ready=ready)

    def _in_sync(self) -> bool:
        return all(reflector.has_synced for reflector in self.reflectors)

    def _wake(self) -> None:
        self.loop.wake()

    def _leadership_changed(self) -> None:
        if not self.leadership.leading:
            self.conditions.drop()
            self.preparations.wake_all()
        self._wake()

    def _object_changed(self, key: str) -> None:
        self.preparations.changed(key)

    def _turned(self) -> None:
        self.leadership.turned()

    def _policy_changed(self, name: str) -> None:
        self.refresher.changed(name)

    def _make_elector(self) -> LeaseElector:
        settings = self._settings
        return LeaseElector(
            self.client,
            namespace=settings.namespace,
            name=settings.lease,
            # As client-go: the host for people, the rest so that a container that restarts is another holder.
            identity=f"{socket.gethostname()}_{uuid.uuid4()}",
            changed=self._turned,
            times=settings.lease_times,
        )

    def _make_reflectors(self) -> list[Reflector]:
        selector = {"fieldSelector": ASSIGNED_SELECTOR}
        return [
            self._make_reflector(NODES, Nodes(self.scheduler, wake=self._wake), name="nodes"),
            self._make_reflector(NAMESPACES, Namespaces(self.scheduler, wake=self._wake), name="namespaces"),
            *(self._mirror_of(kind) for kind in KINDS),
            self._make_reflector(PODS, self.assigned, name="pods", params=selector),
        ]

    def _mirror_of(self, kind: str) -> Reflector:
        resource = MIRRORED[kind]
        listener = ApiObjects(kind, self.scheduler, wake=self._wake, changed=self._object_changed)
        return self._make_reflector(resource, listener, name=resource.plural, may_lack=kind in MAY_LACK)

    def _make_reflector(
        self,
        resource: Resource,
        listener: Listener,
        *,
        name: str,
        params: dict[str, str] | None = None,
        may_lack: bool = False,
    ) -> Reflector:
        return Reflector(
            self.client,
            resource.path(),
            listener=listener,
            name=name,
            params=params,
            may_lack=may_lack,
            restarted=lambda reason: self._counts.watch_restarted(name, reason),
            relisted=lambda: self._counts.relisted(name),
        )

    def _make_sweep(
        self, resource: Resource, swept: PendingPods | PolicyBook, *, name: str, selector: str = ""
    ) -> Sweep:
        return Sweep(
            self.client,
            resource.path(),
            swept=swept,
            name=name,
            params={"fieldSelector": selector} if selector else None,
            every_s=lambda: self._settings.sweep_interval_s if self.kopf.running else _SWEEP_INSTEAD_S,
        )

    def _make_recorder(self) -> EventRecorder:
        return EventRecorder(
            self.client,
            instance=f"{self._settings.scheduler_name}-{socket.gethostname()}",
            leading=lambda: self.leadership.leading,
            written=self._counts.event_written,
            busy=lambda: self.binds.busy or self.conditions.busy,
            dropped=self._counts.event_dropped,
            per_s=self._settings.events_per_second,
        )

    def _make_conditions(self) -> PodStatusWriter:
        return PodStatusWriter(
            self.client,
            condition_of=self.pending.condition_of,
            written=self.pending.condition_written,
            busy=lambda: self.binds.busy,
            may_write=lambda: self.leadership.leading,
            timeout_s=self._settings.lease_times.request_timeout_s,
        )

    def _make_reports(self) -> DecisionReports:
        return DecisionReports(
            scheduler_name=self._settings.scheduler_name,
            pending=self.pending,
            record=self.events.record,
            write_condition=self.conditions.unscheduled,
            policy=self._policy,
            telemetry=self.telemetry,
        )

    def _make_binds(self) -> BindPipeline:
        times = self._settings.lease_times
        return BindPipeline(
            scheduler=self.scheduler,
            binder=Binder(self.client, timeout_s=times.request_timeout_s),
            conditions=self.conditions,
            may_bind=lambda: self.leadership.may_decide,
            settled=self.reports.settled,
            undo=self._undo,
            taken_back=self.reports.taken_back,
            wake=self._wake,
            concurrency=self._settings.bind_concurrency,
        )

    def _make_preparations(self) -> Preparations:
        timeout_s = self._settings.lease_times.request_timeout_s
        withdraw, may_bind = self.conditions.withdraw, self._may_decide
        return Preparations(
            scheduler=self.scheduler,
            binds=self.binds,
            volumes=VolumeWriter(self.client, timeout_s=timeout_s),
            reservations=ReservationWriter(self.client, may_write=may_bind, timeout_s=timeout_s),
            nominate=Nominator(self.client, withdraw=withdraw, may_write=may_bind, timeout_s=timeout_s).nominate,
            may_bind=may_bind,
            failed=self.reports.unprepared,
            taken_back=self.reports.taken_back,
            wake=self._wake,
            timeout_s=self._settings.volume_bind_timeout_s,
        )

    def _make_evictions(self) -> Evictions:
        return Evictions(
            scheduler=self.scheduler,
            evictor=Evictor(
                self.client,
                scheduler_name=self._settings.scheduler_name,
                may_write=lambda: self.leadership.may_decide,
                timeout_s=self._settings.lease_times.request_timeout_s,
            ),
            take_back=self._take_back,
            clear_nomination=self.conditions.clear_nomination,
            record=self.events.record,
            wake=self._wake,
            controller=self._settings.scheduler_name,
        )

    def _make_refresher(self) -> Refresher:
        return Refresher(
            scheduler=self.scheduler,
            policies=self.policies,
            sources=self.sources,
            node_of=self.assigned.node_of,
            place_of=self.assigned.place_of,
            write=self._write_status,
            record=self.events.record,
            controller=self._settings.scheduler_name,
            leading=lambda: self.leadership.leading,
            wake=self._wake,
            observer=self._counts,
        )

    async def _crd_installed(self) -> None:
        await preflight.wait_for_crd(self.client)

    async def _write_status(self, entry: PolicyEntry, status: Json) -> None:
        await write_policy_status(self.client, name=entry.name, uid=entry.uid, status=status, previous=entry.status)

    def _may_decide(self) -> bool:
        return self.leadership.may_decide

    async def _undo(self, command: Bind) -> None:
        await self.preparations.undo(command)

    def _take_back(self, uid: Uid) -> bool:
        return self.preparations.take_back(uid) or self.binds.take_back(uid)

    def _policy(self, name: str) -> Policy | None:
        entry = self.policies.get(name)
        return entry.policy if entry else None
