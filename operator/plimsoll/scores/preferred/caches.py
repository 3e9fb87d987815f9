"""What the preferences keep between decisions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plimsoll.cluster.node_column import NodeColumns
from plimsoll.scores.by_nodes import ByNodes


def _columns() -> NodeColumns:
    return NodeColumns(np.float64)


@dataclass(slots=True)
class PreferenceCaches:
    """Raw columns of what depends on the node object alone; normalised late, since that depends on who is feasible.

    Attributes:
        affinity: weights of preferred terms that match, by class of pods.
        taints: taints that ask to stay away, by class of pods; under "" however tolerant a pod is.
        images: one more than the size in bytes, by image; 0 where a node does not have it.
        image_scores: what ImageLocality says, by what a pod needs of images.
        included: whether spreading counts the node, by class of pods and policy.
        alike: what is said where all nodes are alike, by what a pod needs of images; None where they are not.
    """

    affinity: NodeColumns = field(default_factory=_columns)
    taints: NodeColumns = field(default_factory=_columns)
    images: NodeColumns = field(default_factory=_columns)
    image_scores: ByNodes[NDArray[np.int64]] = field(default_factory=ByNodes)
    included: NodeColumns = field(default_factory=_columns)
    alike: ByNodes[Any] = field(default_factory=ByNodes)
