"""API objects beside nodes, pods and namespaces, kept by kind and key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from plimsoll.cluster.changes import Change, ChangeKind

Json = Mapping[str, Any]


class ApiObject(Protocol):
    """What every parsed object has.

    Attributes:
        key: ``namespace/name``, or the name alone where the kind is cluster-scoped.
    """

    @property
    def key(self) -> str: ...


class Store(Protocol):
    """Keeps the objects of some kinds, with whatever indexes are asked for."""

    def put(self, kind: Kind, thing: ApiObject) -> Change | None:
        """New or changed; None where nothing that scheduling looks at is different."""
        ...

    def drop(self, kind: Kind, key: str) -> Change | None: ...


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of API object.

    Attributes:
        name: as in ``kind:``.
        parse: raises ObjectError, which names the object.
        changed: what it means to waiting pods that one came or changed.
        gone: what it means to them that one went.
        store: name of the view's attribute that keeps them.
    """

    name: str
    parse: Callable[[Json], ApiObject]
    changed: ChangeKind = ChangeKind(0)
    gone: ChangeKind = ChangeKind(0)
    store: str = "objects"


class Objects:
    """The plain store: by kind and key, without indexes."""

    def __init__(self) -> None:
        self._things: dict[str, dict[str, ApiObject]] = {}

    def put(self, kind: Kind, thing: ApiObject) -> Change | None:
        things = self._things.setdefault(kind.name, {})
        before = things.get(thing.key)
        things[thing.key] = thing
        return None if before == thing else Change(kind.changed, before=before, after=thing)

    def drop(self, kind: Kind, key: str) -> Change | None:
        before = self._things.get(kind.name, {}).pop(key, None)
        return None if before is None else Change(kind.gone, before=before)

    def get(self, kind_name: str, key: str) -> ApiObject | None:
        return self._things.get(kind_name, {}).get(key)

    def all(self, kind_name: str) -> Iterator[ApiObject]:
        return iter(self._things.get(kind_name, {}).values())
