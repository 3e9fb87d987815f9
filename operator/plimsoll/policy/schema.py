"""pydantic's JSON schema turned into a structural schema, the subset that the API server takes for a CRD."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from plimsoll.policy.rules import VALIDATIONS

Schema = dict[str, Any]

# Written in this order, so that the generated file reads from what a field means to what it must obey.
_ORDER = (
    "description",
    "type",
    "format",
    "default",
    "enum",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "maxProperties",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "required",
    "properties",
    "items",
    "additionalProperties",
    VALIDATIONS,
)
_RULE_ORDER = ("rule", "message", "fieldPath")


def structural_schema(model: type[BaseModel]) -> Schema:
    """The model's schema without references, unions with null, titles and schemas of its own.

    Raises:
        ValueError: the model uses a JSON schema word that a structural schema has no equal for.
    """
    schema = model.model_json_schema()
    return _structural(schema, schema.get("$defs", {}))


def _structural(schema: Schema, definitions: dict[str, Schema]) -> Schema:
    flat = _flat(schema, definitions)
    if "properties" in flat:
        # Unknown fields are pruned by the API server; only maps say additionalProperties.
        flat.pop("additionalProperties", None)
        flat["properties"] = {name: _structural(part, definitions) for name, part in flat["properties"].items()}
    for word in ("items", "additionalProperties"):
        if isinstance(flat.get(word), dict):
            flat[word] = _structural(flat[word], definitions)
    return _ordered(flat)


def _flat(schema: Schema, definitions: dict[str, Schema]) -> Schema:
    """One level, with what a reference points to and with the one branch of a union that is not null."""
    beside = {word: value for word, value in schema.items() if word not in {"$ref", "anyOf", "$defs", "title"}}
    if beside.get("default", ...) is None:
        del beside["default"]
    if "default" in beside:
        beside["default"] = _without_nulls(beside["default"])
    if "description" in beside:
        beside["description"] = " ".join(beside["description"].split())
    if "$ref" in schema:
        return _flat(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions) | beside
    if "anyOf" in schema:
        (branch,) = (b for b in schema["anyOf"] if b.get("type") != "null")
        return _flat(branch, definitions) | beside
    return beside


def _without_nulls(default: Any) -> Any:
    return {k: v for k, v in default.items() if v is not None} if isinstance(default, dict) else default


def _ordered(schema: Schema) -> Schema:
    if unknown := schema.keys() - set(_ORDER):
        raise ValueError(f"a structural schema has no {', '.join(sorted(unknown))}")
    if VALIDATIONS in schema:
        schema[VALIDATIONS] = [{k: rule[k] for k in _RULE_ORDER if k in rule} for rule in schema[VALIDATIONS]]
    # A model without fields says `properties: {}`, which means nothing.
    return {word: schema[word] for word in _ORDER if word in schema and schema[word] != {}}
