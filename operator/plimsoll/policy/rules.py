"""One rule of the API, in both languages it is checked in.

The API server checks the CEL at apply; Python checks what never went through it (a file that is simulated, an
object stored under an older CRD). Both say the same sentence, and both are generated from the one Rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

VALIDATIONS = "x-kubernetes-validations"
BROKEN = "rule"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule on a value or, listed in a model's ``rules``, on an object.

    Attributes:
        cel: over ``self``; true where the rule is kept.
        holds: the same in Python, over the parsed value.
        problem, mend: what is wrong, and what to write instead; joined they are the sentence that people read.
        at: the field below the object that the rule is about; empty: the object itself.
        sets_aside: fields below the object that are taken out where the rule is broken; empty: the field at fault.
    """

    cel: str
    holds: Callable[[Any], bool]
    problem: str
    mend: str
    at: str = ""
    sets_aside: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        return f"{self.problem}: {self.mend}"

    def validation(self) -> dict[str, str]:
        """The entry of ``x-kubernetes-validations``."""
        return {"rule": self.cel, "message": self.message} | ({"fieldPath": f".{self.at}"} if self.at else {})

    def check(self, value: _T) -> _T:
        """The value itself.

        Raises:
            PydanticCustomError: of type BROKEN, with this rule in its context.
        """
        if not self.holds(value):
            raise PydanticCustomError(BROKEN, "{sentence}", {"sentence": self.message, "rule": self})
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core)
        schema.setdefault(VALIDATIONS, []).append(self.validation())
        return schema


def cel_string(text: str) -> str:
    """The text as a CEL string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def cel_matches(expression: str, *, value: str = "self") -> str:
    """CEL for: the whole of the value matches the expression."""
    return f"{value}.matches({cel_string(f'^({expression})$')})"


def matches(expression: str, text: str) -> bool:
    """The same in Python. (Its $ would match before a trailing newline, and its classes all of Unicode.)"""
    return re.fullmatch(expression, text, re.ASCII) is not None


def cel_list(texts: Iterable[str]) -> str:
    """The texts as a CEL list of strings."""
    return f"[{', '.join(map(cel_string, texts))}]"
