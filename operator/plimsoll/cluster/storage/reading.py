"""What all kinds of storage objects are read with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from plimsoll.errors import InvalidInput, ObjectError

Json = Mapping[str, Any]
T = TypeVar("T")

# Older than spec.storageClassName, and before it where both are set.
_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"


def read(kind: str, thing: Json, parse: Callable[[Json], T]) -> T:
    """The parsed object.

    Raises:
        ObjectError: names the object and what in it cannot be read.
    """
    try:
        return parse(thing)
    except (InvalidInput, AttributeError, KeyError, TypeError, ValueError) as error:
        raise ObjectError(f"{kind} {_name(thing)} cannot be read: {error}") from error


def storage_class_name(thing: Json) -> str:
    """Of a volume or a claim; "" where it names none."""
    annotations = thing["metadata"].get("annotations") or {}
    if _BETA_CLASS in annotations:
        return str(annotations[_BETA_CLASS])
    return (thing.get("spec") or {}).get("storageClassName") or ""


def _name(thing: Json) -> str:
    metadata = thing.get("metadata") or {}
    return "/".join(str(metadata[part]) for part in ("namespace", "name") if metadata.get(part)) or "?"
