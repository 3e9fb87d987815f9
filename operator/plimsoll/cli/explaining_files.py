"""``plimsoll explain --cluster FILE``: verdicts on a cluster that is written down, without touching any."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from plimsoll.errors import InvalidInput, ObjectError

Json = dict[str, Any]


def read_items(name: str) -> list[Json]:
    """The objects of a file (``-`` is standard input): Lists and single objects, JSON or YAML, several documents.

    Raises:
        InvalidInput: the file is not there, or holds something else.
    """
    where = "standard input" if name == "-" else name
    return [item for document in _documents(_text(name, where), where) for item in _items(document, where)]


def verdicts(
    items: list[Json], *, scheduler_name: str, namespace: str | None, names: tuple[str, ...]
) -> tuple[list[Json], list[str]]:
    """A document per pending pod (of a namespace, of these names), and what could not be read of the rest.

    Raises:
        InvalidInput: there is no such pod.
    """
    import numpy as np

    from plimsoll.reporting.verdicts import verdict_document
    from plimsoll.scheduling.offline import read_cluster

    cluster = read_cluster(items, scheduler_name=scheduler_name, now_s=time.time(), rng=np.random.default_rng(0))
    pending = [
        p for p in cluster.pending.values() if namespace in {None, p.namespace} and (not names or p.name in names)
    ]
    missing = set(names) - {pod.name for pod in pending}
    remarks = list(cluster.unreadable)
    if missing:
        remarks.extend(f"no pending pod is named {name}" for name in sorted(missing))
    if not pending:
        raise InvalidInput("; ".join(remarks) or _no_pods(cluster.ignored, namespace))
    return [verdict_document(cluster.judge(pod)) for pod in pending], remarks


def _no_pods(ignored: dict[str, int], namespace: str | None) -> str:
    where = f" in namespace {namespace}" if namespace else ""
    hint = f"; kinds that scheduling does not ask about: {', '.join(sorted(ignored))}" if ignored else ""
    return f"there are no pending pods{where} in it, so there is nothing to explain{hint}"


def _text(name: str, where: str) -> str:
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidInput(f"{where} cannot be read: {reason}") from error


def _documents(text: str, where: str) -> Iterator[Any]:
    try:
        yield json.loads(text)
    except (ValueError, RecursionError):
        yield from _yaml_documents(text, where)


def _yaml_documents(text: str, where: str) -> list[Any]:
    import yaml

    # The C parser is ten times faster, and not everywhere.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return [document for document in yaml.load_all(text, Loader=loader) if document is not None]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        at = "" if line is None else f" (line {line + 1})"
        raise InvalidInput(f"{where} is neither JSON nor YAML{at}: write it with kubectl get ... -o json") from error


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
