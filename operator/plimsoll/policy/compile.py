"""A SchedulingPolicy made ready for use: from the API server's JSON to the frozen Policy of the core."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.cluster.quantity import whole
from plimsoll.cluster.selectors import LabelSelector, NodeSelector
from plimsoll.policy.compiled import (
    BUILT_IN_METRICS,
    CPU,
    MEMORY,
    NETWORK_METRICS,
    NETWORK_RECEIVE,
    NETWORK_TRANSMIT,
    Goal,
    Metric,
    MetricsServerSource,
    Placement,
    Policy,
    PrometheusSource,
    Source,
)
from plimsoll.policy.durations import seconds
from plimsoll.policy.models.base import ApiModel
from plimsoll.policy.models.metric import CustomMetric
from plimsoll.policy.models.source import Prometheus
from plimsoll.policy.models.spec import Limits, Spec, Strategy, StrategyType, Weights
from plimsoll.policy.models.values import number
from plimsoll.policy.reading import Read, read_spec

_DEFAULT_WEIGHTS = Weights(cpu=1, memory=1)
# Percent: what leaves a node room for its peaks, and for pods that grow.
_DEFAULT_TARGET = 60


def compile_policy(manifest: Mapping[str, Any]) -> Policy:
    """The policy in force.

    What is wrong and can be missed is set aside and named in ``problems``; what is valid and without effect in
    this version is named in ``not_yet_enforced``.

    Raises:
        PolicyError: it is no SchedulingPolicy, or what is wrong says which pods or nodes it is for.
    """
    read = read_spec(manifest)
    spec, metadata = read.spec, manifest["metadata"]
    return Policy(
        name=metadata["name"],
        uid=metadata.get("uid") or "",
        generation=metadata.get("generation") or 0,
        created=metadata.get("creationTimestamp") or "",
        mode=spec.mode,
        priority=spec.priority,
        pod_selector=LabelSelector.parse(_json(spec.pod_selector)),
        namespace_selector=LabelSelector.parse(_json(spec.namespace_selector)),
        node_selector=dict(spec.node_selector or {}),
        node_affinity=None if spec.node_affinity is None else NodeSelector.parse(_json(spec.node_affinity)),
        metrics=(*_metrics(read), *map(_custom, read.spec.metrics or ())),
        device_name=spec.device_name,
        time_range_s=float(seconds(spec.time_range)),
        refresh_interval_s=float(seconds(spec.refresh_interval)),
        source=_source(read),
        network_capacity_bytes_s=None if spec.network_capacity is None else whole(spec.network_capacity),
        on_overload=spec.on_overload,
        on_missing=spec.on_missing,
        formula=spec.formula,
        max_memory_bytes=None if spec.max_memory is None else whole(spec.max_memory),
        placement=Placement(**{term: float(weight) for term, weight in spec.placement}),
        in_flight=spec.in_flight,
        pack_target=_pack_target(spec.strategy),
        not_yet_enforced=tuple(_not_yet_enforced(read)),
        problems=read.problems,
    )


def _json(model: ApiModel | None) -> dict[str, Any]:
    return {} if model is None else model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _metrics(read: Read) -> Iterator[Metric]:
    weights, limits = read.spec.weights or _DEFAULT_WEIGHTS, read.spec.limits or Limits()
    by_name = {
        NETWORK_RECEIVE: (weights.network_receive, limits.network),
        NETWORK_TRANSMIT: (weights.network_transmit, limits.network),
        MEMORY: (weights.memory, limits.memory),
        CPU: (weights.cpu, limits.cpu),
    }
    if read.set_aside("deviceName"):
        # Other devices than those that were asked for would be a measurement of something else.
        for name in NETWORK_METRICS:
            del by_name[name]
    for name in BUILT_IN_METRICS:
        weight, percent = by_name.get(name, (None, None))
        if weight or percent:
            yield Metric(name, float(weight or 0), None if percent is None else percent / 100)


def _custom(metric: CustomMetric) -> Metric:
    low, high = _number(metric.min), _number(metric.max)
    weight = float(metric.weight or 0)
    return Metric(
        name=metric.name,
        weight=weight if low is not None and high is not None else weight / 2,
        limit=_number(metric.limit),
        query=metric.query,
        goal=metric.goal or Goal.MINIMIZE,
        min=low,
        max=high,
        per_pod=_number(metric.per_pod) or 0.0,
    )


def _number(quantity: int | str | None) -> float | None:
    value = None if quantity is None else number(quantity)
    return None if value is None else float(value)


def _pack_target(strategy: Strategy) -> float | None:
    return (strategy.target or _DEFAULT_TARGET) / 100 if strategy.type is StrategyType.PACK else None


def _source(read: Read) -> Source | None:
    if read.set_aside("metricsSource"):
        return None
    prometheus = _prometheus(read.spec)
    if prometheus is None:
        return MetricsServerSource()
    if prometheus.auth is not None or prometheus.tls is not None:
        return None
    return PrometheusSource(
        url=prometheus.url.rstrip("/"),
        timeout_s=float(seconds(prometheus.timeout)),
        headers=dict(prometheus.headers or {}),
        query_parameters=dict(prometheus.query_parameters or {}),
        node_label=prometheus.node_label,
    )


def _prometheus(spec: Spec) -> Prometheus | None:
    return spec.metrics_source.prometheus if spec.metrics_source is not None else None


def _not_yet_enforced(read: Read) -> Iterator[str]:
    prometheus = _prometheus(read.spec)
    if prometheus is not None and prometheus.auth is not None:
        yield "spec.metricsSource.prometheus.auth"
    if prometheus is not None and prometheus.tls is not None:
        yield "spec.metricsSource.prometheus.tls"
