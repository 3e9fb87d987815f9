"""Plimsoll's verdicts, through the very code that ``plimsoll explain --cluster FILE -o json`` runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.cli.explaining_files import verdicts
from plimsoll.errors import InvalidInput

Json = dict[str, Any]
SCHEDULER = "default-scheduler"


def judge(items: Sequence[Json]) -> dict[str, Json]:
    """By pod; an unreadable pod has none."""
    try:
        documents, _ = verdicts(list(items), scheduler_name=SCHEDULER, namespace=None, names=())
    except InvalidInput:
        return {}
    return {document["pod"]: document for document in documents}
