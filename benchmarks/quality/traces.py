"""Which files of a folder are what."""

from __future__ import annotations

from pathlib import Path

from plimsoll.errors import InvalidInput
from plimsoll.sim.inputs import Inputs

_MACHINES = "_vms.csv"


def found(folder: Path) -> Inputs:
    """``NAME.npz`` beside ``NAME_vms.csv``, and where they are there ``*dlrm*.csv*`` and ``*node_list*.csv*``.

    Raises:
        InvalidInput: there is no trace, or more than one.
    """
    usages = [path for path in sorted(folder.glob("*.npz")) if _machines(path).is_file()]
    if len(usages) != 1:
        names = ", ".join(path.name for path in usages) or "none"
        raise InvalidInput(f"{folder} should hold one trace, NAME.npz beside NAME{_MACHINES}: there is {names}")
    return Inputs(usages[0], _machines(usages[0]), _one(folder, "*dlrm*.csv*"), _one(folder, "*node_list*.csv*"))


def _machines(usage: Path) -> Path:
    return usage.with_name(usage.stem + _MACHINES)


def _one(folder: Path, pattern: str) -> Path | None:
    paths = sorted(folder.glob(pattern))
    return paths[0] if len(paths) == 1 else None
