"""The policies in force, and which of them places which pod."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plimsoll.cluster.pod import POLICY_ANNOTATION, PodInfo
from plimsoll.policy.compiled import Policy
from plimsoll.policy.selection import Selection, select_policy

Labels = Mapping[str, str]
_Asked = tuple[str | None, ...]
# Policies may select by a label that each pod has for itself.
_MAX_KNOWN = 5000


class Selections:
    """Answers once for all pods of a namespace that no policy tells apart, while nothing about it changes.

    Args:
        namespaces: labels by name, live; of each that changes ``namespace_changed`` must be told.
    """

    def __init__(self, namespaces: Mapping[str, Labels]) -> None:
        self._namespaces = namespaces
        self._policies: Mapping[str, Policy] = {}
        self._read: tuple[str, ...] = ()
        self._known: dict[str, dict[_Asked, Selection]] = {}
        self._count = 0

    def policies_changed(self, policies: Iterable[Policy]) -> None:
        self._policies = {policy.name: policy for policy in policies}
        self._read = tuple({r.key for p in self._policies.values() for r in p.pod_selector.requirements})
        self._forget()

    def namespace_changed(self, name: str) -> None:
        self._count -= len(self._known.pop(name, ()))

    def of(self, pod: PodInfo) -> Selection:
        asked = pod.annotations.get(POLICY_ANNOTATION), *map(pod.labels.get, self._read)
        found = self._known.get(pod.namespace, {}).get(asked)
        if found is None:
            found = select_policy(self._policies, pod, self._namespaces.get(pod.namespace, {}))
            self._keep(pod.namespace, asked, found)
        return found

    def _keep(self, namespace: str, asked: _Asked, found: Selection) -> None:
        if self._count >= _MAX_KNOWN:
            self._forget()
        self._known.setdefault(namespace, {})[asked] = found
        self._count += 1

    def _forget(self) -> None:
        self._known.clear()
        self._count = 0
