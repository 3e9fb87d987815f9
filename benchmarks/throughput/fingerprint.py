"""What a run depends on, as one word: runs of other code or of other objects are never mixed with these.

Not of the harness itself: what it reports may grow while a long table is under way.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
from collections.abc import Iterator
from pathlib import Path

import orjson

import plimsoll
from benchmarks.throughput.workload import Workload

_PACKAGE = Path(plimsoll.__file__).parent
# What `plimsoll run` never imports.
_APART = _PACKAGE / "sim"
# The rest of a workload's objects is made as the first ones are.
_OBJECTS, _NODES = 40, 12


def fingerprint(workload: Workload) -> str:
    """Of Plimsoll's code, and of the workload."""
    return hashlib.sha256("\0".join((_code(), *_of_workload(workload))).encode()).hexdigest()[:16]


def _code() -> str:
    whole = hashlib.sha256(plimsoll.__version__.encode())
    files = (*_PACKAGE.rglob("*.py"), *_PACKAGE.rglob("*.yaml"))
    for path in sorted(file for file in files if not file.is_relative_to(_APART)):
        whole.update(path.relative_to(_PACKAGE).as_posix().encode())
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
