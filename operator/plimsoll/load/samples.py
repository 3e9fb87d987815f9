"""What a metrics source answers, before anything is believed of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Sample:
    """One series of an instant query's answer.

    Attributes:
        value: as answered; may be NaN, infinite or negative.
    """

    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class PrometheusAnswers:
    """Everything one policy's refresh asked Prometheus, by query id of ``load/queries.py``.

    Attributes:
        answers: samples by query id; absent where the query failed.
        failures: a sentence by query id.
        rejected: ids of those failures that the query itself is to blame for.
    """

    asked_at_s: float
    answers: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    rejected: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class NodeUsage:
    """One item of ``metrics.k8s.io`` NodeMetrics: the value covers [sampled_at_s - window_s, sampled_at_s]."""

    node: str
    sampled_at_s: float
    window_s: float
    cpu_cores: float
    mem_bytes: float


@dataclass(frozen=True, slots=True)
class MetricsServerAnswers:
    asked_at_s: float
    usages: tuple[NodeUsage, ...] = ()
    failure: str = ""


class PodUsage(NamedTuple):
    """One item of ``metrics.k8s.io`` PodMetrics: its containers' sum over [sampled_at_s - window_s, sampled_at_s].

    ``pod`` is ``namespace/name``; a number that could not be read is NaN.
    """

    pod: str
    sampled_at_s: float
    window_s: float
    cpu_cores: float
    mem_bytes: float
