"""What the preferences keep between decisions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from plimsoll.cluster.node_column import NodeColumns


def _columns() -> NodeColumns:
    return NodeColumns(np.float64)


@dataclass(slots=True)
class PreferenceCaches:
    """Raw columns of what depends on the node object alone; normalised late, since that depends on who is feasible.

    Attributes:
        affinity: weights of preferred terms that match, by class of pods.
        taints: taints that ask to stay away, by class of pods; under "" however tolerant a pod is.
        images: one more than the size in bytes, by image; 0 where a node does not have it.
        included: whether spreading counts the node, by class of pods and policy.
    """

    affinity: NodeColumns = field(default_factory=_columns)
    taints: NodeColumns = field(default_factory=_columns)
    images: NodeColumns = field(default_factory=_columns)
    included: NodeColumns = field(default_factory=_columns)
