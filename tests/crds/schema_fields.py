"""The CRD's schema, field by field."""

from __future__ import annotations

from typing import Any

from plimsoll.policy.crd import custom_resource_definition
from plimsoll.policy.rules import VALIDATIONS

(VERSION,) = custom_resource_definition()["spec"]["versions"]
SCHEMA = VERSION["schema"]["openAPIV3Schema"]
OWN = {name: SCHEMA["properties"][name] for name in ("spec", "status")}


def fields(schema: dict[str, Any], path: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Every field below the schema by its path."""
    found = []
    for name, part in schema.get("properties", {}).items():
        found += [(f"{path}.{name}", part), *fields(part, f"{path}.{name}")]
    for inner in ("items", "additionalProperties"):
        if inner in schema:
            found += fields(schema[inner], f"{path}[]")
    return found


FIELDS = fields({"properties": OWN})


def rules() -> list[dict[str, str]]:
    parts = [part for _, part in FIELDS] + [part["items"] for _, part in FIELDS if "items" in part]
    return [rule for part in parts for rule in part.get(VALIDATIONS, ())]
