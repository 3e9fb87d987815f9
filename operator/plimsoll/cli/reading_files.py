"""Files of API objects, as ``kubectl get`` writes them and as people join them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from plimsoll.errors import InvalidInput, ObjectError

Json = dict[str, Any]

_MAPPING_TAG = "tag:yaml.org,2002:map"


class _RepeatedKey(Exception):
    def __init__(self, key: str, line: int) -> None:
        super().__init__(key)
        self.key, self.line = key, line


def file_title(name: str) -> str:
    """What messages call it."""
    return "standard input" if name == "-" else name


def read_items(name: str) -> list[Json]:
    """The objects of a file (``-`` is standard input): Lists and single objects, JSON or YAML, several documents.

    Raises:
        InvalidInput: the file is not there, is empty, or holds something else.
    """
    where = file_title(name)
    text = _text(name, where)
    if not text.strip():
        raise InvalidInput(f"{where} is empty: write it with kubectl get ... -o json")
    return [item for document in _documents(text, where) for item in _items(document, where)]


def _text(name: str, where: str) -> str:
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidInput(f"{where} cannot be read: {reason}") from error


def _documents(text: str, where: str) -> list[Any]:
    try:
        return list(_json_documents(text))
    except (ValueError, RecursionError):
        return _yaml_documents(text, where)


def _json_documents(text: str) -> Iterator[Any]:
    """One after the other, with nothing but white space between: files that were joined, or one object per line."""
    decoder, at = json.JSONDecoder(), 0
    while (start := _after_blanks(text, at)) < len(text):
        document, at = decoder.raw_decode(text, start)
        yield document


def _after_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _yaml_documents(text: str, where: str) -> list[Any]:
    import yaml

    try:
        return [document for document in yaml.load_all(text, Loader=_yaml_loader()) if document is not None]
    except _RepeatedKey as error:
        problem = f"says {error.key} twice in one object (line {error.line}): put --- between YAML objects"
        raise InvalidInput(f"{where} {problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        at = "" if line is None else f" (line {line + 1})"
        raise InvalidInput(f"{where} is neither JSON nor YAML{at}: write it with kubectl get ... -o json") from error


def _yaml_loader() -> Any:
    """One that refuses repeated keys, of which PyYAML silently keeps the last."""
    import yaml

    # The C parser is ten times faster, and not everywhere.
    loader: Any = type("_Loader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})
    loader.add_constructor(_MAPPING_TAG, _mapping)
    return loader


def _mapping(loader: Any, node: Any) -> Iterator[Any]:
    seen: set[tuple[str, str]] = set()
    for key, _ in node.value:
        if not isinstance(key.value, str):
            continue
        if (key.tag, key.value) in seen:
            raise _RepeatedKey(key.value, key.start_mark.line + 1)
        seen.add((key.tag, key.value))
    yield from loader.construct_yaml_map(node)


def _items(document: Any, where: str) -> Iterator[Json]:
    """Objects of a document, whose Lists may hold Lists (``kubectl get`` of several kinds, joined by hand)."""
    if isinstance(document, list):
        for part in document:
            yield from _items(part, where)
        return
    if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
        raise ObjectError(f"{where} holds something that is no API object: write it with kubectl get ... -o json")
    if isinstance(document.get("items"), list):
        kind = document["kind"].removesuffix("List")
        for part in document["items"]:
            # Items of a typed list (NodeList, as the API server itself answers) do not say their kind.
            yield from _items({"kind": kind} | part if isinstance(part, dict) and kind else part, where)
        return
    yield document
