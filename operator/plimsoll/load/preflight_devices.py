"""What to do where a policy's network devices are found on no node at all."""

from __future__ import annotations

import re
from collections.abc import Iterable

from plimsoll.load.preflight import some
from plimsoll.load.queries import DEFAULT_DEVICES, Ask
from plimsoll.load.samples import PrometheusAnswers
from plimsoll.policy.compiled import Policy


def no_device(series: str, policy: Policy, answers: PrometheusAnswers) -> str:
    """Why Prometheus has no rate of the series, by the devices that it knows."""
    known = _devices(answers)
    wanted = f"device {policy.device_name}" if policy.device_name else "a physical device"
    if _any_matches(policy.device_name or DEFAULT_DEVICES, known):
        return f"Prometheus has fewer than two samples of {series} for {wanted} yet: wait for two scrapes."
    right = "right" if policy.device_name else "to be set"
    problem = f"Prometheus has no series of {series} for {wanted}"
    if known:
        return f"{problem}: set spec.deviceName to a device that there is: {some(known)}."
    return f"{problem}: is node-exporter scraped, and is spec.deviceName {right}?"


def _devices(answers: PrometheusAnswers) -> list[str]:
    """Those that look physical first."""
    names = {sample.labels.get("device", "") for sample in answers.answers.get(Ask.DEVICES, ())} - {""}
    return sorted(names, key=lambda name: (re.fullmatch(DEFAULT_DEVICES, name) is None, name))


def _any_matches(expression: str, names: Iterable[str]) -> bool:
    """By Python's rules, which are RE2's for all that device names need."""
    try:
        wanted = re.compile(expression)
    except (re.error, RecursionError, OverflowError):
        return False
    return any(wanted.fullmatch(name) for name in names)
