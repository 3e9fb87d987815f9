"""Images that a node has already (kube-scheduler's ImageLocality), by size and by how many nodes have them.

What few nodes have counts little, so that pods do not crowd where an image happens to be.
"""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.images import size_on
from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.cluster.snapshot import Ints, Snapshot
from plimsoll.scores.normalise import MAX_SCORE
from plimsoll.scores.preferred.caches import PreferenceCaches

NAME = "ImageLocality"
_MIB = 2**20
# What is smaller is pulled in no time; what is larger than this per container counts no more.
_LEAST_BYTES, _MOST_BYTES = 23 * _MIB, 1000 * _MIB


def score(view: Snapshot, pod: PodInfo, caches: PreferenceCaches) -> Ints:
    """[N], whoever else is feasible; 0 all over where no node has an image worth it. Kept; not to be written."""
    return caches.image_scores.of(view, (pod.images, pod.containers), lambda: _scores(view, pod, caches))


def _scores(view: Snapshot, pod: PodInfo, caches: PreferenceCaches) -> Ints:
    if not pod.containers:
        return np.zeros(view.size, dtype=np.int64)
    total = np.zeros(view.size, dtype=np.int64)
    for image in pod.images:
        total += _scaled_sizes(view, image, caches)
    most_bytes = _MOST_BYTES * pod.containers
    scores: Ints = MAX_SCORE * (np.clip(total, _LEAST_BYTES, most_bytes) - _LEAST_BYTES) // (most_bytes - _LEAST_BYTES)
    return scores


def _scaled_sizes(view: Snapshot, image: str, caches: PreferenceCaches) -> Ints:
    """[N], bytes of the image, scaled by the share of nodes that have it."""
    present = caches.images.of(view, image, lambda node: _one_more_than_size(node, image))
    nodes = int(np.count_nonzero(present))
    if not nodes:
        return np.zeros(view.size, dtype=np.int64)
    return (np.maximum(present - 1, 0) * (nodes / len(view.row_of))).astype(np.int64)


def _one_more_than_size(node: NodeInfo, image: str) -> int:
    size_bytes = size_on(node.images, image)
    return 0 if size_bytes is None else size_bytes + 1
