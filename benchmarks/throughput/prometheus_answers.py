"""What a Prometheus that scrapes every node would answer to a policy's own queries, prepared as bytes.

Each node has a load of its own that stays: below half of everything, so that no limit refuses it. Times are fresh in
each answer: the last scrape was some seconds before the moment that is asked about.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import orjson

from benchmarks.throughput.workload import Json
from plimsoll.load.queries import Ask, queries
from plimsoll.policy.compile import compile_policy

_SEED = 1
_SCRAPE_S = 15.0
_DEVICE, _PORT = "eth0", 9100
_LINK_BYTES_S = 1.25e9
_MEM_BYTES = 64.0 * 1024**3
_LEAST, _MOST = 0.1, 0.5
_OF_DEVICES = (Ask.RECEIVE, Ask.TRANSMIT, Ask.SPEED)
# No text of an answer has it.
_AT, _SCRAPED = b"@at", b"@scraped"
_EMPTY = b'{"status":"success","data":{"resultType":"vector","result":[]}}'


class _Node(NamedTuple):
    """Loads as shares of what the node has."""

    name: str
    load: dict[Ask, float]


class Answers:
    """By the text of a query; to one that nobody has prepared there is no series.

    Args:
        policy: a SchedulingPolicy as the API server has it.
    """

    def __init__(self, policy: Json, nodes: Iterable[str]) -> None:
        rng = random.Random(_SEED)  # noqa: S311 - loads, no secrets
        known = [_node(name, rng) for name in nodes]
        self._answers = {query.text: _prepared(query.id, known) for query in queries(compile_policy(policy))}

    def to(self, query: str, *, at_s: float) -> bytes:
        """The body of the answer."""
        scraped_s = at_s - at_s % _SCRAPE_S
        prepared = self._answers.get(query, _EMPTY)
        return prepared.replace(_SCRAPED, b"%.3f" % scraped_s).replace(_AT, b"%.3f" % at_s)


def _node(name: str, rng: random.Random) -> _Node:
    return _Node(name, {ask: rng.uniform(_LEAST, _MOST) for ask in Ask})


def _prepared(query: str, nodes: Sequence[_Node]) -> bytes:
    ask = Ask(query.partition(".")[0])
    series = (_series(node, ask) for node in nodes)
    return b'{"status":"success","data":{"resultType":"vector","result":[' + b",".join(series) + b"]}}"


def _series(node: _Node, ask: Ask) -> bytes:
    labels = {"node": node.name, "nodename": node.name, "instance": f"{node.name}:{_PORT}"}
    if ask in _OF_DEVICES:
        labels["device"] = _DEVICE
    value = _SCRAPED if ask is Ask.LAST_SAMPLE else str(_value(ask, node.load[ask])).encode()
    return b'{"metric":' + orjson.dumps(labels) + b',"value":[' + _AT + b',"' + value + b'"]}'


def _value(ask: Ask, load: float) -> float:
    match ask:
        case Ask.RECEIVE | Ask.TRANSMIT:
            return load * _LINK_BYTES_S
        case Ask.SPEED:
            return _LINK_BYTES_S
        case Ask.IDLE:
            return 1 - load
        case Ask.AVAILABLE:
            return (1 - load) * _MEM_BYTES
        case Ask.TOTAL:
            return _MEM_BYTES
        case Ask.INTERVAL:
            return _SCRAPE_S
        case _:
            # A clock that counts a second per second, and series that say no more than that they are there.
            return 1.0
