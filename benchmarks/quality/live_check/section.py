"""What people read of the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]


def section(result: Json) -> str:
    """Markdown, from what ``as_json`` made."""
    tables = (_summary_table(result), _node_table(result), _rollout_table(result))
    return "\n\n".join((_told(result), *tables, _limits(result)))


def _told(result: Json) -> str:
    plays = result["plays"]
    held = f"{sum(play['holds'] for play in plays)} of {len(plays)}"
    return (
        f"The same {result['pods']} pods in {len(result['rollouts'])} rollouts on {len(result['nodes'])} nodes, on a "
        "live control plane (kwok nodes, a scripted exporter that counts what the pods really placed use, a real "
        f"Prometheus, the running operator) and with {result['seeds']} seeds in the simulator. In {held} "
        "live plays each node's count lay within the range of the seeds. The distance is the sum over nodes of how far "
        "a count is from the seeds' mean, by the number of pods; by rollout, the same within each rollout."
    )


def _summary_table(result: Json) -> str:
    live = [
        (name, "yes" if play["holds"] else "no", _percent(play["distance"]), _percent(play["distanceByRollout"]))
        for name, play in zip(_play_names(result), result["plays"], strict=True)
    ]
    others = [
        (f"{each['plays']} {each['name']}", f"{_percent(each['passed'])} of them", *map(_range, _distances(each)))
        for each in result["others"]
    ]
    return _table(("", "within the range", "distance", "distance by rollout"), [*live, *others])


def _distances(other: Json) -> tuple[Json, Json]:
    return other["distance"], other["distanceByRollout"]


def _range(summary: Json) -> str:
    return f"{_percent(summary['mean'])}, 95 % below {_percent(summary['p95'])}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _node_table(result: Json) -> str:
    rows = [
        (each["node"], each["cores"], f"{each['least']} to {each['most']}", f"{each['mean']:.2f}", *each["live"])
        for each in result["nodes"]
    ]
    return _table(("node", "cores", "seeds", "mean", *_play_names(result)), rows)


def _rollout_table(result: Json) -> str:
    rows = [
        (
            f"{each['at']:g} s",
            each["app"],
            each["pods"],
            " ".join(f"{mean:.1f}" for mean in each["mean"]),
            *(" ".join(map(str, live)) for live in each["live"]),
        )
        for each in result["rollouts"]
    ]
    return _table(("at", "app", "pods", "seeds' mean by node", *_play_names(result)), rows)


def _play_names(result: Json) -> list[str]:
    return [f"live {i}" for i, _ in enumerate(result["plays"], start=1)]


def _limits(result: Json) -> str:
    late_s = max(play["lateSeconds"] for play in result["plays"])
    ready_s = max(play["readySeconds"] for play in result["plays"])
    return (
        f"Rollouts were applied at most {late_s:.2f} s late, and pods started {ready_s:.2f} s after their Binding in "
        "the mean. What this does not show: loads that change while pods run, nodes that come and go, false metrics, "
        f"windows longer than {result['timeRangeSeconds']} s, and kubelets that take long to start pods."
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = (head, ["---"] * len(head), *rows)
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
