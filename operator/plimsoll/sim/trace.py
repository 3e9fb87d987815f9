"""Load over time of real machines, which the replayed pods take theirs from.

The format is that of a ``numpy.savez`` file with the arrays ``t0`` (seconds since the epoch), ``step`` (seconds per
slot), ``vm`` (ids) and, as [V, S] over machines and slots, ``cpu_mhz``, ``mem_kb``, ``rx_kbs`` and ``tx_kbs``, where a
negative value is a missing one; and beside it a CSV file with the columns ``vm``, ``cores`` and ``cpu_cap_mhz``.
"""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plimsoll.errors import InvalidInput

Floats32 = NDArray[np.float32]

_ARRAYS = ("cpu_mhz", "mem_kb", "rx_kbs", "tx_kbs")
_NAMES = ("step", "vm", *_ARRAYS)
_COLUMNS = ("vm", "cores", "cpu_cap_mhz")
# Enough to tell text from what is none.
_BEGIN_BYTES = 4096
_KILO = 1000.0
_KIBI = 1024.0
# A machine of which less was recorded is left out.
_LEAST_KNOWN = 0.5


@dataclass(frozen=True, slots=True)
class Trace:
    """What machines used.

    Attributes:
        use: [M, V, S] over metrics (cpu in cores, memory in bytes, bytes/s received and sent), machines and slots.
        step_s: length of a slot.
    """

    use: Floats32
    step_s: float

    @property
    def machines(self) -> int:
        return int(self.use.shape[1])

    @property
    def slots(self) -> int:
        return int(self.use.shape[2])


def read_trace(usage: Path, machines: Path) -> Trace:
    """A trace from its two files.

    Gaps are filled with the last value before them; machines without capacity or with more gaps than values are left
    out.

    Raises:
        InvalidInput: names the file, and what in it is not as it should be.
    """
    arrays, step_s, ids = _arrays(usage)
    mhz_per_core = _mhz_per_core(machines)
    known = np.array([mhz_per_core.get(int(vm), 0.0) for vm in ids])
    usable = (known > 0) & ((arrays[0] >= 0).mean(axis=1) >= _LEAST_KNOWN)
    if not usable.any():
        raise InvalidInput(f"{machines}: no machine of {usage} has cores and a cpu_cap_mhz above 0")
    units = (1 / known[usable][:, None], _KIBI, _KILO, _KILO)
    use = np.stack([_filled(a[usable]) * unit for a, unit in zip(arrays, units, strict=True)]).astype(np.float32)
    return Trace(use, step_s)


def _arrays(path: Path) -> tuple[list[Floats32], float, NDArray[np.int64]]:
    try:
        with path.open("rb") as file, np.load(file) as held:
            _check_names(held)
            arrays = [held[name] for name in _ARRAYS]
            step_s, ids = float(held["step"]), held["vm"]
    except (OSError, EOFError, LookupError, TypeError, ValueError, zipfile.BadZipFile) as error:
        wanted = ", ".join(_NAMES)
        problem = _no_trace(path, error)
        raise InvalidInput(
            f"{path} is no trace: {problem}; it should be a file of numpy.savez with {wanted}"
        ) from error
    if any(a.ndim != 2 or a.shape != arrays[0].shape for a in arrays) or len(ids) != len(arrays[0]) or step_s <= 0:
        raise InvalidInput(f"{path} is no trace: {', '.join(_ARRAYS)} must be of one shape, a row for each vm")
    return arrays, step_s, ids


def _check_names(held: Container[str]) -> None:
    if lacking := [name for name in _NAMES if name not in held]:
        raise LookupError(f"it has no array {', '.join(lacking)}")


def _no_trace(path: Path, error: Exception) -> str:
    """What is wrong, in words of people who give files rather than of those who read them."""
    if isinstance(error, OSError) and error.strerror:
        return f"it cannot be read ({error.strerror})"
    if not zipfile.is_zipfile(path):
        return "it is text, perhaps the file for --vms" if _is_text(path) else "it is something else, or torn"
    return str(error) if isinstance(error, LookupError) else f"its arrays cannot be read ({error})"


def _is_text(path: Path) -> bool:
    with path.open("rb") as file:
        begin = file.read(_BEGIN_BYTES)
    return bool(begin) and b"\0" not in begin


def _mhz_per_core(path: Path) -> dict[int, float]:
    rows = None
    try:
        with path.open(newline="", encoding="utf-8") as lines:
            rows = csv.DictReader(lines)
            return {
                int(row["vm"]): float(row["cpu_cap_mhz"]) / float(row["cores"])
                for row in rows
                if float(row["cores"]) > 0
            }
    except (OSError, KeyError, TypeError, ValueError, csv.Error) as error:
        problem = _no_machines(path, error, line=rows.line_num if rows else 0)
        wanted = ", ".join(_COLUMNS)
        raise InvalidInput(f"{path} does not tell the machines: {problem}; it needs the columns {wanted}") from error


def _no_machines(path: Path, error: Exception, *, line: int) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"it cannot be read ({error.strerror})"
    if zipfile.is_zipfile(path):
        return "it is no CSV but a file of numpy.savez, perhaps that for --usage"
    if isinstance(error, UnicodeDecodeError):
        return "it is no CSV, since it is no text"
    return f"it has no column {error.args[0]}" if isinstance(error, KeyError) else f"line {line}: {error}"


def _filled(values: Floats32) -> Floats32:
    """Each gap with the last value before it, or the first after it."""
    known = values >= 0
    last = np.where(known, np.arange(values.shape[1]), 0)
    np.maximum.accumulate(last, axis=1, out=last)
    first = known.argmax(axis=1)
    last = np.maximum(last, first[:, None])
    filled: Floats32 = np.maximum(np.take_along_axis(values, last, axis=1), 0)
    return filled
