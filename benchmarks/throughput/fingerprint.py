"""What a run depends on, as words: runs of other code, of other objects or by other flags never stand for these.

Of the harness only what makes runs: what tells of them may grow while a long table is under way.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
from collections.abc import Iterator
from pathlib import Path

import orjson

import devcluster
import plimsoll
from benchmarks.throughput.contenders import Contender
from benchmarks.throughput.place import API_SERVER_FLAGS
from benchmarks.throughput.workload import Workload

_PACKAGE = Path(plimsoll.__file__).parent
# What `plimsoll run` never imports.
_APART = _PACKAGE / "sim"
_HARNESS = Path(__file__).parent
_CLUSTER = Path(devcluster.__file__).parent
# Reads what runs have left, and is no part of one.
_TELL = "__main__ cells document figures notes options ratios report results_file table"
TELLING = frozenset(f"{name}.py" for name in _TELL.split())
# The rest of a workload's objects is made as the first ones are.
_OBJECTS, _NODES = 40, 12


def fingerprint(workload: Workload) -> str:
    """Of Plimsoll's code, and of the workload."""
    return hashlib.sha256("\0".join((_code(), *_of_workload(workload))).encode()).hexdigest()[:16]


def harness() -> str:
    """Of what starts the control plane, plays and measures."""
    own = {path for path in _files(_HARNESS) if path.name not in TELLING}
    both = _of_files(own, _HARNESS) + _of_files(_files(_CLUSTER), _CLUSTER)
    return hashlib.sha256(both.encode()).hexdigest()[:16]


def flags(contender: Contender) -> str:
    """Of the command lines of a contender and of the API server."""
    told = orjson.dumps([contender.command, contender.configuration, API_SERVER_FLAGS])
    return hashlib.sha256(told).hexdigest()[:16]


def _code() -> str:
    return plimsoll.__version__ + _of_files({f for f in _files(_PACKAGE) if not f.is_relative_to(_APART)}, _PACKAGE)


def _files(folder: Path) -> set[Path]:
    return {*folder.rglob("*.py"), *folder.rglob("*.yaml")}


def _of_files(files: set[Path], folder: Path) -> str:
    whole = hashlib.sha256()
    for path in sorted(files):
        whole.update(path.relative_to(folder).as_posix().encode())
        whole.update(path.read_bytes())
    return whole.hexdigest()


def _of_workload(workload: Workload) -> Iterator[str]:
    things = itertools.chain(
        itertools.islice(workload.before(_NODES), _OBJECTS), workload.pods(_OBJECTS, "scheduler", _NODES)
    )
    for body in (workload.node(0), workload.node(1), *(thing.body for thing in things)):
        yield orjson.dumps(body).decode()
    if workload.policy is not None:
        yield orjson.dumps(workload.policy("http://prometheus")).decode()
    if workload.meanwhile is not None:
        yield inspect.getsource(workload.meanwhile)
    yield str(workload.left(_OBJECTS))
