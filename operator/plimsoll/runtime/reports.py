"""What becomes of a decision, told: one log line, events, the pod's condition, and the counts."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from plimsoll.cluster.pod import PodInfo, Uid
from plimsoll.kube.binding import BindOutcome, BindResult
from plimsoll.policy.compiled import Policy
from plimsoll.reporting.conditions import PodCondition, bind_failed, unscheduled
from plimsoll.reporting.events import Event, above_limits, failed_scheduling, scheduled
from plimsoll.reporting.fit import failed_bind_message, skipped_message
from plimsoll.runtime.pending import PendingPods, Waiting
from plimsoll.scheduling.decision import Bind, Decision, Outcome, Preempt, Refuse, Skip
from plimsoll.telemetry import Telemetry, attempts_label

log = logging.getLogger("plimsoll.decisions")

_RESULTS = ("scheduled", "nominated", "unschedulable", "error")


class DecisionReports:
    """Tells people and programs.

    Args:
        record: takes an event.
        write_condition: takes a pod's condition.
        policy: the policy of a name, where it is in force.
    """

    def __init__(
        self,
        *,
        scheduler_name: str,
        pending: PendingPods,
        record: Callable[[Event], None],
        write_condition: Callable[[PodInfo, PodCondition], None],
        policy: Callable[[str], Policy | None],
        telemetry: Telemetry,
    ) -> None:
        self._controller = scheduler_name
        self._pending = pending
        self._record = record
        self._write_condition = write_condition
        self._policy = policy
        self._telemetry = telemetry
        self._cpu = {result: telemetry.scheduling_decision_cpu.labels(result=result) for result in _RESULTS}
        # A bound pod may be no longer pending by the time that the Binding's answer is heard of.
        self._under_way: dict[Uid, Waiting] = {}

    def decided(self, decision: Decision, *, took_s: float, cpu_s: float) -> None:
        """Every decision, as soon as it is made."""
        self._telemetry.scheduling_algorithm_duration.observe(took_s)
        self._cpu[_result(decision)].observe(cpu_s)
        if waiting := self._pending.waiting(decision.pod.uid):
            waiting.attempts += 1
            if decision.outcome is Outcome.BIND:
                self._under_way[decision.pod.uid] = waiting
        if decision.load_set_aside:
            self._telemetry.load_fallback.labels(policy=decision.policy, reason="set_aside").inc()

    def refused(self, command: Refuse | Preempt, *, took_s: float) -> None:
        pod, decision = command.pod, command.decision
        error = decision.outcome is Outcome.ERROR
        self._attempt("error" if error else "unschedulable", decision, took_s)
        self._preemption(decision)
        condition = unscheduled(decision, generation=self._generation(pod))
        log.info("pod is not placed", extra=_fields(decision) | {"reason": condition.message})
        self._record(failed_scheduling(pod, message=condition.message, controller=self._controller))
        self._write_condition(pod, condition)

    def skipped(self, command: Skip) -> None:
        """No attempt: neither counted nor a condition."""
        message = skipped_message(command.pod)
        log.info("pod is skipped", extra={"pod": command.pod.key, "reason": message})
        self._record(failed_scheduling(command.pod, message=message, controller=self._controller))

    def settled(self, command: Bind, result: BindResult, took_s: float) -> None:
        """The Binding's outcome; ``took_s`` is decision and round trip together."""
        waiting = self._under_way.pop(command.pod.uid, None)
        if result.outcome is BindOutcome.BOUND:
            self._bound(command.pod, command.decision, waiting, took_s)
        elif result.outcome is BindOutcome.FAILED:
            self._failed(command.pod, command.decision, result.message, took_s)
        else:
            fields = _fields(command.decision) | {"why": result.outcome.value, "reason": result.message}
            log.info("pod was not ours to bind", extra=fields)

    def unprepared(self, command: Bind, problem: str, took_s: float) -> None:
        """What the pod needed before its Binding did not come about; the Binding was not sent."""
        self._under_way.pop(command.pod.uid, None)
        self._went_wrong(command.pod, command.decision, problem, took_s)

    def taken_back(self, command: Bind) -> None:
        """The Binding was not even sent."""
        self._under_way.pop(command.pod.uid, None)

    def _bound(self, pod: PodInfo, decision: Decision, waiting: Waiting | None, took_s: float) -> None:
        self._attempt("scheduled", decision, took_s)
        log.info("pod is placed", extra=_fields(decision) | {"seconds": round(took_s, 4)})
        self._record(scheduled(pod, node=decision.node, controller=self._controller))
        if waiting:
            attempts = max(waiting.attempts, 1)
            self._telemetry.pod_scheduling_attempts.observe(attempts)
            self._telemetry.pod_scheduling_sli_duration.labels(attempts_label(attempts)).observe(
                time.time() - waiting.since_s
            )
        if decision.overloaded:
            self._telemetry.overloaded_placements.labels(policy=decision.policy).inc()
            if policy := self._policy(decision.policy):
                self._record(above_limits(policy, controller=self._controller))

    def _failed(self, pod: PodInfo, decision: Decision, message: str, took_s: float) -> None:
        self._went_wrong(pod, decision, failed_bind_message(message), took_s)

    def _went_wrong(self, pod: PodInfo, decision: Decision, sentence: str, took_s: float) -> None:
        self._attempt("error", decision, took_s)
        log.warning("binding failed", extra=_fields(decision) | {"reason": sentence})
        self._record(failed_scheduling(pod, message=sentence, controller=self._controller))
        self._write_condition(pod, bind_failed(sentence, generation=self._generation(pod)))

    def _preemption(self, decision: Decision) -> None:
        if decision.victims or "preemption: " in decision.after:
            self._telemetry.preemption_attempts.inc()
        if decision.victims:
            self._telemetry.preemption_victims.observe(len(decision.victims))

    def _attempt(self, result: str, decision: Decision, took_s: float) -> None:
        self._telemetry.schedule_attempts.labels(result, decision.policy).inc()
        self._telemetry.scheduling_attempt_duration.labels(result, decision.policy).observe(took_s)

    def _generation(self, pod: PodInfo) -> int | None:
        waiting = self._pending.waiting(pod.uid)
        return waiting.generation if waiting else None


def _result(decision: Decision) -> str:
    if decision.outcome is Outcome.BIND:
        return "scheduled"
    if decision.outcome is Outcome.ERROR:
        return "error"
    return "nominated" if decision.nominated_node else "unschedulable"


def _fields(decision: Decision) -> dict[str, Any]:
    fields: dict[str, Any] = {"pod": decision.pod.key, "policy": decision.policy}
    if decision.node:
        fields |= {"node": decision.node, "score": round(decision.score, 1), "feasible": decision.feasible}
    if decision.victims:
        fields |= {"nominated": decision.nominated_node, "victims": [victim.key for victim in decision.victims]}
    return fields | {"nodes": decision.nodes}
