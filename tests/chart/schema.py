"""The schema of the chart's values, looked into."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.chart.chart import CHART, default_values

Path = tuple[str, ...]

SCHEMA: Mapping[str, Any] = json.loads((CHART / "values.schema.json").read_text())


def schema_at(path: Path) -> Mapping[str, Any]:
    """What the schema says of a value; nothing where it leaves it to the cluster's API."""
    found = SCHEMA
    for key in path:
        found = found.get("properties", {}).get(key, {})
        if "$ref" in found:
            found = SCHEMA["definitions"][found["$ref"].rpartition("/")[2]]
    return found


def closed_groups() -> list[Path]:
    """Every group of values but `global`, which other charts share."""
    return [path for path in _groups(default_values(), ()) if path != ("global",)]


def _groups(values: Mapping[str, Any], prefix: Path) -> Iterator[Path]:
    for key, value in values.items():
        path = (*prefix, key)
        if isinstance(value, dict) and "properties" in schema_at(path):
            yield path
            yield from _groups(value, path)
