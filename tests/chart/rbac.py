"""What a service account may do by the chart, and what it did and was refused by the audit log.

An entry is (verb, API group, resource, subresource); the core group and no subresource are "". Where objects
lie and what they are called is left out: one use of `update leases` uses every rule that grants it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

Access = tuple[str, str, str, str]
Json = Mapping[str, Any]

# Retries of the refused come within it; roles that are granted by hand do not.
_START = timedelta(seconds=10)
_ROLES = {"Role", "ClusterRole"}
_BINDINGS = {"RoleBinding", "ClusterRoleBinding"}


def granted(manifests: str | Iterable[Json]) -> set[Access]:
    """What the manifests' bindings grant to service accounts; roles that nobody is bound to grant nothing.

    `manifests` is a YAML stream as helm prints it, or the objects in it.

    Raises:
        KeyError: a binding names a role that is not among the manifests.
        ValueError: a rule has a wildcard, which no run can use up.
    """
    objects = _parsed(manifests)
    roles = {_role_key(found): found for found in objects if found["kind"] in _ROLES}
    bindings = (found for found in objects if found["kind"] in _BINDINGS and _has_account(found))
    return {access for binding in bindings for access in _accesses(roles[_bound_role(binding)])}


def used(audit_log: Path, user: str) -> set[Access]:
    """What the user asked for and was not refused."""
    answered = _answered(_events(audit_log, user))
    return {_access(event) for event in answered if event.get("objectRef") and not _refused(event)}


def denied(audit_log: Path, user: str) -> list[str]:
    """A sentence for each kind of request that was answered 403, with how often it was.

    An API server that has just started refuses everybody until it has read the roles, some milliseconds long.
    What the user was given a moment later in the very same words is none of the roles' gaps, and is left out.
    """
    answered = list(_answered(_events(audit_log, user)))
    refused = Counter(_sentence(event) for event in answered if _refused(event) and not _given_soon(event, answered))
    return [f"{sentence} ({count} times)" for sentence, count in sorted(refused.items())]


def _parsed(manifests: str | Iterable[Json]) -> list[Json]:
    documents = yaml.safe_load_all(manifests) if isinstance(manifests, str) else manifests
    return [document for document in documents if document]


def _role_key(role: Json) -> tuple[str, str, str]:
    return role["kind"], role["metadata"].get("namespace", ""), role["metadata"]["name"]


def _bound_role(binding: Json) -> tuple[str, str, str]:
    ref = binding["roleRef"]
    namespace = binding["metadata"]["namespace"] if ref["kind"] == "Role" else ""
    return ref["kind"], namespace, ref["name"]


def _has_account(binding: Json) -> bool:
    return any(subject["kind"] == "ServiceAccount" for subject in binding.get("subjects") or ())


def _accesses(role: Json) -> Iterator[Access]:
    for rule in role["rules"]:
        for verb in rule["verbs"]:
            for group in rule["apiGroups"]:
                for resource in rule["resources"]:
                    if "*" in (verb, group, resource):
                        raise ValueError(f"{role['kind']} {role['metadata']['name']} has a wildcard: {rule}")
                    main, _, subresource = resource.partition("/")
                    yield verb, group, main, subresource


def _events(audit_log: Path, user: str) -> Iterator[Json]:
    with audit_log.open() as lines:
        for line in lines:
            # A running API server may be in the middle of the last one.
            if line.endswith("\n"):
                event: Json = json.loads(line)
                if event["user"]["username"] == user:
                    yield event


def _answered(events: Iterable[Json]) -> Iterator[Json]:
    """One event per request with a status: arrivals have none yet, watches have it twice."""
    seen: set[str] = set()
    for event in events:
        if event.get("responseStatus") and event["auditID"] not in seen:
            seen.add(event["auditID"])
            yield event


def _refused(event: Json) -> bool:
    forbidden = (event.get("annotations") or {}).get("authorization.k8s.io/decision") == "forbid"
    return forbidden or (event.get("responseStatus") or {}).get("code") == 403


def _given_soon(refused: Json, answered: Iterable[Json]) -> bool:
    until = _time(refused) + _START
    return any(
        not _refused(event) and _words(event) == _words(refused) and _time(refused) < _time(event) < until
        for event in answered
    )


def _words(event: Json) -> tuple[str, ...]:
    target = event.get("objectRef") or {"requestURI": event["requestURI"]}
    # The version of an object that was read anew is not part of the question.
    keys = ("requestURI", "apiGroup", "resource", "subresource", "namespace", "name")
    return event["verb"], *(target.get(key, "") for key in keys)


def _time(event: Json) -> datetime:
    return datetime.fromisoformat(event["requestReceivedTimestamp"])


def _access(event: Json) -> Access:
    target = event["objectRef"]
    return event["verb"], target.get("apiGroup", ""), target["resource"], target.get("subresource", "")


def _sentence(event: Json) -> str:
    if not event.get("objectRef"):
        return f"{event['verb']} {event['requestURI']}"
    verb, group, resource, subresource = _access(event)
    what = resource + (f".{group}" if group else "") + (f"/{subresource}" if subresource else "")
    namespace = event["objectRef"].get("namespace")
    return f"{verb} {what}" + (f" in namespace {namespace}" if namespace else " in the whole cluster")
