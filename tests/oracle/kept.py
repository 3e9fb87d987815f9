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


def deviation_case(name: str) -> Path:
    """The smallest cluster on which an intended deviation shows."""
    return _FOLDER / f"deviation-{name}.yaml"


def load(path: Path) -> list[Json]:
    items: list[Json] = yaml.safe_load(path.read_text(encoding="utf-8"))["items"]
    return items


def keep(items: Sequence[Json], *, seed: int) -> Path:
    """Writes a cluster beside the others; the seed says how it was found."""
    written = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)})
    path = _FOLDER / f"{hashlib.sha256(written.encode()).hexdigest()[:10]}.yaml"
    # By way of JSON: what two objects share is written twice.
    text = yaml.safe_dump(json.loads(written), sort_keys=False, width=110)
    path.write_text(f"# Found by `python -m tests.oracle --seed {seed}`.\n{text}", encoding="utf-8")
    return path
