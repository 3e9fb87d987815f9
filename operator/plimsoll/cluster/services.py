"""Services and controllers, as far as they tell which pods belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.cluster.changes import Change
from plimsoll.cluster.objects import ApiObject, Kind
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.selectors import LabelSelector, equality
from plimsoll.cluster.strict_selectors import strict_selector
from plimsoll.errors import InvalidInput, ObjectError

Json = Mapping[str, Any]
Labels = Mapping[str, str]

SERVICE, REPLICA_SET, STATEFUL_SET = "Service", "ReplicaSet", "StatefulSet"
REPLICATION_CONTROLLER = "ReplicationController"

_NONE: Mapping[str, Service] = {}


@dataclass(frozen=True, slots=True)
class Service:
    """Attributes:
    selector: labels that its pods have; without any it selects none.
    """

    namespace: str
    name: str
    selector: Labels = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    def selects(self, pod: PodInfo) -> bool:
        return all(pod.labels.get(key) == value for key, value in self.selector.items())

    @classmethod
    def parse(cls, service: Json) -> Service:
        """Raises ObjectError."""
        try:
            metadata = service["metadata"]
            return cls(metadata["namespace"], metadata["name"], dict((service.get("spec") or {}).get("selector") or {}))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise _unreadable(service, error) from error


@dataclass(frozen=True, slots=True)
class Controller:
    """A ReplicaSet, StatefulSet or ReplicationController.

    Attributes:
        selector: None where it has none.
    """

    kind: str
    namespace: str
    name: str
    selector: LabelSelector | None = None

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @classmethod
    def parse(cls, controller: Json, *, kind: str) -> Controller:
        """Raises ObjectError."""
        try:
            metadata = controller["metadata"]
            selector = _selector((controller.get("spec") or {}).get("selector"), kind)
            return cls(kind, metadata["namespace"], metadata["name"], selector)
        except (InvalidInput, AttributeError, KeyError, TypeError, ValueError) as error:
            raise _unreadable(controller, error) from error


class Services:
    """Store of both, with the services of a pod at hand."""

    def __init__(self) -> None:
        self._services: dict[str, Service] = {}
        self._controllers: dict[tuple[str, str], Controller] = {}
        # By namespace and one pair of the selector, so that a pod asks only for its own labels.
        self._by_label: dict[tuple[str, str, str], dict[str, Service]] = {}

    def put(self, kind: Kind, thing: ApiObject) -> Change | None:
        """No pod waits for these."""
        match thing:
            case Service():
                self._forget_service(thing.key)
                self._services[thing.key] = thing
                if thing.selector:
                    self._by_label.setdefault(_indexed(thing), {})[thing.key] = thing
            case Controller():
                self._controllers[kind.name, thing.key] = thing
        return None

    def drop(self, kind: Kind, key: str) -> Change | None:
        if kind.name == SERVICE:
            self._forget_service(key)
        self._controllers.pop((kind.name, key), None)
        return None

    def of(self, pod: PodInfo) -> Iterator[Service]:
        """Services that select the pod."""
        for key, value in pod.labels.items():
            for service in self._by_label.get((pod.namespace, key, value), _NONE).values():
                if service.selects(pod):
                    yield service

    def controller(self, kind: str, key: str) -> Controller | None:
        return self._controllers.get((kind, key))

    def _forget_service(self, key: str) -> None:
        before = self._services.pop(key, None)
        if before is not None and before.selector:
            indexed = _indexed(before)
            del self._by_label[indexed][key]
            if not self._by_label[indexed]:
                del self._by_label[indexed]


def _indexed(service: Service) -> tuple[str, str, str]:
    key, value = min(service.selector.items())
    return service.namespace, key, value


def _selector(selector: Json | None, kind: str) -> LabelSelector | None:
    """A ReplicationController's is a plain map."""
    if selector is None or kind != REPLICATION_CONTROLLER:
        return strict_selector(selector)
    return LabelSelector(tuple(equality(selector)))


def _unreadable(thing: Json, error: Exception) -> ObjectError:
    metadata = thing.get("metadata") or {}
    name = f"{metadata.get('namespace', '?')}/{metadata.get('name', '?')}"
    return ObjectError(f"{thing.get('kind', 'object')} {name} cannot be read: {error}")
