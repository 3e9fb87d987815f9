"""Arrivals and machines as they were recorded in real clusters, for the scenarios that want them.

Arrivals are a CSV file, also gzipped, with a row per pod and the columns ``app_name``, ``creation_time`` and
``deletion_time``, in seconds of one clock; a pod without creation_time was there before, one without deletion_time
outlived the recording. Alibaba's trace of disaggregated DLRM has them. Machines are a CSV file with the columns
``cpu_milli`` and ``memory_mib``, as the node list of Alibaba's openb trace.
"""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from plimsoll.errors import InvalidInput

Row = Mapping[str, str]
T = TypeVar("T")

_ARRIVAL_COLUMNS = ("app_name", "creation_time", "deletion_time")
_MACHINE_COLUMNS = ("cpu_milli", "memory_mib")
_MEBI = 2.0**20


class Arrival(NamedTuple):
    """Attributes:
    ends_s: infinity where the recording ended before.
    """

    app: str
    begins_s: float
    ends_s: float


class Machine(NamedTuple):
    cores: float
    mem_bytes: float


@dataclass(frozen=True, slots=True)
class Recorded:
    """What there is of recordings; empty where there is none.

    Attributes:
        arrivals: by time.
        machines: in the order of the file.
    """

    arrivals: Sequence[Arrival] = ()
    machines: Sequence[Machine] = ()


def read_recorded(*, arrivals: Path | None = None, nodes: Path | None = None) -> Recorded:
    """From those of the files that there are.

    Raises:
        InvalidInput: names the file, the line, and what in it is not as it should be.
    """
    return Recorded(read_arrivals(arrivals) if arrivals else (), read_machines(nodes) if nodes else ())


def read_arrivals(path: Path) -> tuple[Arrival, ...]:
    """Raises InvalidInput as ``read_recorded``."""
    arrivals = (arrival for arrival in _rows(path, _ARRIVAL_COLUMNS, _arrival) if arrival is not None)
    found = tuple(sorted(arrivals, key=lambda arrival: arrival.begins_s))
    if not found:
        raise InvalidInput(f"{path} records no arrival: no row has a creation_time")
    return found


def read_machines(path: Path) -> tuple[Machine, ...]:
    """Raises InvalidInput as ``read_recorded``."""
    found = tuple(_rows(path, _MACHINE_COLUMNS, _machine))
    if not found:
        raise InvalidInput(f"{path} records no machine: it has no row")
    return found


def _arrival(row: Row) -> Arrival | None:
    if not row["creation_time"]:
        return None
    begins_s, ends_s = float(row["creation_time"]), float(row["deletion_time"] or math.inf)
    if not math.isfinite(begins_s) or not ends_s >= begins_s:
        raise ValueError(f"a life from {begins_s:g} to {ends_s:g}")
    return Arrival(row["app_name"], begins_s, ends_s)


def _machine(row: Row) -> Machine:
    machine = Machine(float(row["cpu_milli"]) / 1000, float(row["memory_mib"]) * _MEBI)
    if not all(0 < amount < math.inf for amount in machine):
        raise ValueError(f"{row['cpu_milli']} milli of CPU and {row['memory_mib']} MiB")
    return machine


def _rows(path: Path, columns: Iterable[str], read: Callable[[Row], T]) -> list[T]:
    wanted, line = ", ".join(columns), 1
    found = []
    try:
        with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as text:
            for line, row in enumerate(csv.DictReader(text), start=2):  # noqa: B007 - told in the error
                found.append(read(row))
    except KeyError as error:
        raise InvalidInput(f"{path} has no column {error.args[0]}: it needs {wanted}") from error
    except (OSError, EOFError, TypeError, ValueError, csv.Error) as error:
        raise InvalidInput(f"{path}, line {line}: {error}; it should be CSV with {wanted}") from error
    return found
