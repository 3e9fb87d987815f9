"""Whatever a peer prefers: every pod is placed at most once, and only where it fits."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.sim.contenders.registry import PEERS
from plimsoll.sim.engine import Outcome, replay
from plimsoll.sim.scenario import Fault, FaultKind
from tests.sim.peers_worlds import GIBI, small_world

MOST_PODS = 110


@pytest.fixture(params=sorted(PEERS))
def peer(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def requested_at_most(outcome: Outcome) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """[3, N]: the most cores, GiB and pods that were on each node at once."""
    nodes = len(outcome.world.nodes)
    changes = []
    for pod, node in enumerate(outcome.node):
        if node >= 0:
            amount = np.array([*outcome.world.pods[pod].request, 1.0]) / [1.0, GIBI, 1.0]
            changes.append((outcome.placed_s[pod], 1, node, amount))
            if not np.isnan(outcome.ended_s[pod]):
                changes.append((outcome.ended_s[pod], 0, node, -amount))
    there, most = np.zeros((3, nodes)), np.zeros((3, nodes))
    for _, _, node, amount in sorted(changes, key=lambda change: change[:3]):
        there[:, node] += amount
        most[:, node] = np.maximum(most[:, node], there[:, node])
    return most


def obeys(outcome: Outcome) -> None:
    most = requested_at_most(outcome)
    offered = np.stack([outcome.world.capacity[0], outcome.world.capacity[1] / GIBI])
    assert (most[:2] <= offered + 0.1).all()
    assert most[2].max() <= MOST_PODS
    placed = np.array(outcome.node) >= 0
    arrives_s = np.array([pod.arrives_s for pod in outcome.world.pods])
    assert (np.array(outcome.placed_s)[placed] >= arrives_s[placed]).all()
    assert np.isnan(np.array(outcome.placed_s)[~placed]).all()


def test_places_every_pod_where_it_fits(peer: str) -> None:
    world = small_world()
    outcome = replay(world, PEERS[peer].make)
    obeys(outcome)
    assert sum(node >= 0 for node in outcome.node) == len(world.pods)


def test_never_places_where_there_is_no_room(peer: str) -> None:
    """Three times the pods of three nodes' worth, most of which have to wait."""
    world = small_world(nodes=3, pods=300, cpu=1.5, memory=1.2, best_effort=0.0)
    obeys(replay(world, PEERS[peer].make))


def test_the_same_seed_places_the_same(peer: str) -> None:
    first, second = (replay(small_world(3), PEERS[peer].make) for _ in range(2))
    assert first.node == second.node


@pytest.mark.parametrize("kind", list(FaultKind), ids=lambda kind: kind.value)
def test_places_on_whatever_is_wrong_with_the_metrics(peer: str, kind: FaultKind) -> None:
    world = small_world(faults=(Fault(kind, from_s=3600.0, until_s=9000.0, share=0.7),))
    outcome = replay(world, PEERS[peer].make)
    obeys(outcome)
    assert sum(node >= 0 for node in outcome.node) == len(world.pods)


def test_drained_nodes_are_left_and_added_ones_used(peer: str) -> None:
    world = small_world(joins=1, drains=1)
    outcome = replay(world, PEERS[peer].make)
    obeys(outcome)
    for pod, node in enumerate(outcome.node):
        if node >= 0:
            assert world.nodes[node].joins_s <= outcome.placed_s[pod] < world.nodes[node].drains_s


def test_every_peer_says_what_it_is() -> None:
    titles = [entry.title for entry in PEERS.values()]
    assert len(set(titles)) == len(titles)
    assert all(entry.description and "\n" not in entry.description for entry in PEERS.values())
