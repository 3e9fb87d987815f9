"""The object itself."""

from __future__ import annotations

from plimsoll.policy.models.base import ApiModel
from plimsoll.policy.models.spec import Spec
from plimsoll.policy.models.status import Status

GROUP, VERSION, KIND = "plimsoll.dev", "v1alpha1", "SchedulingPolicy"
PLURAL, SINGULAR, SHORT_NAMES, CATEGORIES = "schedulingpolicies", "schedulingpolicy", ("schedpol",), ("plimsoll",)
API_VERSION = f"{GROUP}/{VERSION}"


class SchedulingPolicy(ApiModel):
    """How Plimsoll weighs what nodes carry now when it places the pods that the policy selects."""

    spec: Spec
    """What the policy asks for."""
    status: Status | None = None
    """What the policy makes of the nodes; written by the operator."""
