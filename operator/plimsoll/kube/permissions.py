"""What the operator must be allowed to do: the chart grants it, the start checks it, the tests hold them equal."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from plimsoll.kube.client import ApiClient, Json
from plimsoll.kube.resources import (
    ACCESS_REVIEWS,
    CLAIMS,
    EVENTS,
    LEASES,
    MIRRORED,
    NAMESPACES,
    NODES,
    PODS,
    POLICIES,
    RESOURCE_CLAIMS,
    VOLUMES,
    Resource,
)


@dataclass(frozen=True, slots=True)
class Permission:
    """One verb on one resource; ``namespace`` "" is all of them, ``name`` "" is all objects."""

    verb: str
    resource: Resource
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        group = f".{self.resource.group}" if self.resource.group else ""
        what = self.resource.plural + group + (f"/{self.subresource}" if self.subresource else "")
        where = f" in namespace {self.namespace}" if self.namespace else ""
        return f"{self.verb} {what}{where}"


_WATCHED = (POLICIES, PODS, NODES, NAMESPACES, *MIRRORED.values())
# What runs always needs. metrics.k8s.io and Secrets are left to the policies that ask for them.
ALWAYS = (
    *(Permission(verb, resource) for resource in _WATCHED for verb in ("list", "watch")),
    Permission("get", PODS),
    Permission("delete", PODS),
    Permission("create", PODS, "binding"),
    Permission("patch", PODS, "status"),
    Permission("patch", VOLUMES),
    Permission("patch", CLAIMS),
    Permission("get", RESOURCE_CLAIMS),
    Permission("patch", RESOURCE_CLAIMS, "status"),
    # Since 1.36 who writes for whom a claim is reserved needs a right of its own.
    Permission("patch", RESOURCE_CLAIMS, "binding"),
    Permission("patch", POLICIES, "status"),
    Permission("create", EVENTS),
    Permission("patch", EVENTS),
)


def lease_permissions(*, namespace: str, name: str) -> tuple[Permission, ...]:
    return (
        # By its nature a creation cannot be granted for one name.
        Permission("create", LEASES, namespace=namespace),
        Permission("get", LEASES, namespace=namespace, name=name),
        Permission("update", LEASES, namespace=namespace, name=name),
    )


async def missing(client: ApiClient, needed: tuple[Permission, ...]) -> list[Permission]:
    """Those that the API server would deny.

    Raises:
        ApiError: it cannot be asked.
    """
    allowed = await asyncio.gather(*(_allowed(client, permission) for permission in needed))
    return [permission for permission, granted in zip(needed, allowed, strict=True) if not granted]


async def _allowed(client: ApiClient, permission: Permission) -> bool:
    attributes: Json = {
        "verb": permission.verb,
        "group": permission.resource.group,
        "version": permission.resource.version,
        "resource": permission.resource.plural,
        "subresource": permission.subresource,
        "namespace": permission.namespace,
        "name": permission.name,
    }
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    answer = await client.post(ACCESS_REVIEWS.path(), review)
    return bool((answer.get("status") or {}).get("allowed"))
