"""The policy that ours places by unless another one is given: ``policy.yaml``, the same for all scenarios."""

from __future__ import annotations

from importlib.resources import files

import yaml

from plimsoll.policy.compile import compile_policy
from plimsoll.policy.compiled import Policy


def default_policy_text() -> str:
    return files("plimsoll.sim").joinpath("policy.yaml").read_text(encoding="utf-8")


def default_policy() -> Policy:
    return compile_policy(yaml.safe_load(default_policy_text()))
