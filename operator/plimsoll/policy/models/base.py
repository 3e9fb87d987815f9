"""What all models of the API share."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, model_validator
from pydantic.alias_generators import to_camel
from pydantic.config import JsonDict
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from plimsoll.policy.rules import VALIDATIONS, Rule

ATOMIC: JsonDict = {"x-kubernetes-map-type": "atomic"}


class ApiModel(BaseModel):
    """An object of the API: camelCase names, no unknown fields, frozen; ``rules`` are checked as a whole."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
    )

    rules: ClassVar[tuple[Rule, ...]] = ()

    @model_validator(mode="after")
    def _keeps_rules(self) -> Self:
        for rule in self.rules:
            rule.check(self)
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core)
        if cls.rules:
            handler.resolve_ref_schema(schema)[VALIDATIONS] = [rule.validation() for rule in cls.rules]
        return schema
