"""When a status is worth a write.

Measured values tremble at every refresh. A status is written when something other than timestamps changed
by more than that, and once in a while to show that it is alive.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.cluster.times import epoch_s
from plimsoll.reporting.status import MAX_SCORES

Json = Mapping[str, Any]

# Below two points a percentage shows the rounding and sampling noise of rates. What was last written is
# compared, so a slow drift is written too.
NOISE_POINTS = 2
HEARTBEAT_S = 300.0
_MEASURED = re.compile(r"about -?[0-9][0-9.e+-]*", re.ASCII)
# Compared as they are. The best node and the order of the scores are not: they change hands between equals.
_EXACT = ("observedGeneration", "source", "nodes", "bound", "pending", "observed")


def worth_writing(previous: Json | None, new: Json, now_s: float) -> bool:
    """Whether ``new`` says something that ``previous`` (as last written) does not.

    ``now_s`` is in seconds since the epoch; the age of ``previous`` is taken against it.
    """
    if not previous or any(previous.get(key) != new.get(key) for key in _EXACT):
        return True
    if _conditions(previous) != _conditions(new) or _unmapped(previous) != _unmapped(new):
        return True
    return _moved(previous, new) or (previous != new and _age_s(previous, now_s) >= HEARTBEAT_S)


def _conditions(status: Json) -> list[tuple[Any, ...]]:
    """Without the measured values in their sentences, which all stand behind the word "about"."""
    kept = ("type", "status", "reason", "observedGeneration")
    return [
        (*(condition.get(key) for key in kept), _MEASURED.sub("about", condition.get("message") or ""))
        for condition in status.get("conditions") or ()
    ]


def _unmapped(status: Json) -> int:
    """The count; which series serves as the example is chance."""
    return int((status.get("unmappedSeries") or {}).get("count", 0))


def _moved(previous: Json, new: Json) -> bool:
    if _apart(_best(previous), _best(new)) or _apart(previous.get("regret"), new.get("regret")):
        return True
    before, after = _rows(previous), _rows(new)
    if any(_row_moved(before[node], after[node]) for node in before.keys() & after.keys()):
        return True
    return _notable(before, after) or _notable(after, before)


def _row_moved(before: Json, after: Json) -> bool:
    if before.get("state") != after.get("state") or _apart(before.get("score"), after.get("score")):
        return True
    old, new = before.get("metrics") or {}, after.get("metrics") or {}
    return any(_apart(old.get(metric), new.get(metric)) for metric in old.keys() | new.keys())


def _notable(rows: Mapping[str, Json], others: Mapping[str, Json]) -> bool:
    """Some node is listed here only, and not because it trembled over the edge of a full list."""
    alone = [row for node, row in rows.items() if node not in others]
    if len(others) < MAX_SCORES:
        return bool(alone)
    edge = min(_scores(others), default=None)
    return any(_apart(row.get("score"), edge) for row in alone)


def _scores(rows: Mapping[str, Json]) -> Iterator[int]:
    return (row["score"] for row in rows.values() if row.get("score") is not None)


def _apart(before: int | None, after: int | None) -> bool:
    if before is None or after is None:
        return before is not after
    return abs(before - after) >= NOISE_POINTS


def _rows(status: Json) -> dict[str, Json]:
    return {row["node"]: row for row in status.get("scores") or ()}


def _best(status: Json) -> int | None:
    found: int | None = (status.get("best") or {}).get("score")
    return found


def _age_s(status: Json, now_s: float) -> float:
    """Since the refresh that was written last; without one there is nothing to keep alive."""
    refreshed_s = epoch_s(status.get("lastRefreshTime"))
    return 0.0 if refreshed_s is None else now_s - refreshed_s
