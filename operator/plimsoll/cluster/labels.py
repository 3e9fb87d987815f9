"""The labels of an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.errors import InvalidInput


def labels_of(metadata: Mapping[str, Any]) -> Mapping[str, str]:
    """Raises InvalidInput where they are no texts: a number would never match the text that selectors ask for."""
    labels: Mapping[str, str] = metadata.get("labels") or {}
    for key, value in labels.items():
        if not isinstance(value, str):
            raise InvalidInput(f"metadata.labels[{key}] must be a text, not {value!r}")
    return labels
