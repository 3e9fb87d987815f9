"""A namespace: its labels are what namespaceSelectors look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.cluster.labels import labels_of
from plimsoll.errors import InvalidInput, ObjectError


@dataclass(frozen=True, slots=True)
class Namespace:
    name: str
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return self.name

    @classmethod
    def parse(cls, namespace: Mapping[str, Any]) -> Namespace:
        """Raises ObjectError."""
        metadata = namespace.get("metadata") or {}
        try:
            return cls(metadata["name"], labels_of(metadata))
        except (InvalidInput, AttributeError, KeyError, TypeError) as error:
            raise ObjectError(f"namespace {metadata.get('name', '?')} cannot be read: {error}") from error
