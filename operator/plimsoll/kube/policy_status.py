"""Writes the status of SchedulingPolicies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.kube.client import MERGE_PATCH, ApiClient
from plimsoll.kube.resources import POLICIES

Json = dict[str, Any]


async def write_policy_status(
    client: ApiClient, *, name: str, uid: str, status: Json, previous: Mapping[str, Any] | None
) -> None:
    """Makes ``status`` the whole status of the policy with that uid; its spec is not touched.

    ``previous`` is the status that the object has now, as far as is known.

    Raises:
        ApiError: NotFound and Conflict where the policy is gone or has been recreated.
    """
    body = {"metadata": {"uid": uid}, "status": merge_patch(previous or {}, status)}
    await client.patch(POLICIES.path(name=name, subresource="status"), body, content_type=MERGE_PATCH)


def merge_patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> Json:
    """RFC 7396: what turns ``before`` into ``after``; keys that are to go are null, lists are replaced."""
    patch: Json = {key: None for key in before if key not in after}
    for key, value in after.items():
        if isinstance(value, Mapping) and isinstance(before.get(key), Mapping):
            patch[key] = merge_patch(before[key], value)
        else:
            patch[key] = value
    return patch
