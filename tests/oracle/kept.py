"""Clusters on which the two once disagreed: replayed for ever."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

Json = dict[str, Any]

_FOLDER = Path(__file__).parent / "regressions"


def kept() -> list[Path]:
    return sorted(_FOLDER.glob("*.yaml"))


def load(path: Path) -> list[Json]:
    items: list[Json] = yaml.safe_load(path.read_text(encoding="utf-8"))["items"]
    return items


def keep(items: Sequence[Json], *, seed: int) -> Path:
    digest = hashlib.sha256(json.dumps(items, sort_keys=True).encode()).hexdigest()[:10]
    path = _FOLDER / f"{digest}.yaml"
    text = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": list(items)}, sort_keys=False, width=110)
    path.write_text(f"# Found by `python -m tests.oracle --seed {seed}`.\n{text}", encoding="utf-8")
    return path
