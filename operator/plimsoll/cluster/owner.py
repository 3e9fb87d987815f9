"""Who made a pod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Owner(NamedTuple):
    """The controller among a pod's owner references."""

    api_version: str
    kind: str
    name: str

    @classmethod
    def parse(cls, reference: Mapping[str, Any] | None) -> Owner | None:
        if reference is None:
            return None
        return cls(*(str(reference.get(field) or "") for field in ("apiVersion", "kind", "name")))
