"""Which nodes reach a volume that a claim has: component-helpers' ``CheckNodeAffinity`` on the volume as it is there.

A node that hands the volumes of an in-tree plugin to a CSI driver carries the driver's topology labels, so there the
volume's affinity is read in the driver's words (kube-scheduler's ``tryTranslatePVToCSI``).
"""

from __future__ import annotations

import numpy as np

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.node_rows import NodeRows, allows
from plimsoll.cluster.snapshot import Bools, Snapshot
from plimsoll.cluster.storage.volume import PersistentVolume


def reaches(view: Snapshot, node: NodeInfo, volume: PersistentVolume) -> bool:
    in_tree = volume.in_tree
    if in_tree is None or not _migrated(view, node.name, in_tree.plugin):
        return allows(volume.node_affinity, node.labels)
    # A volume that the driver would not know is out of reach.
    return not in_tree.problem and allows(in_tree.node_affinity, node.labels)


def reaching(view: Snapshot, volume: PersistentVolume) -> Bools:
    """[N]."""
    rows = NodeRows.of(view)
    found = np.zeros(view.size, dtype=np.bool_)
    found[rows.affine(volume.node_affinity)] = True
    if volume.in_tree is not None:
        for row, node in view.live_nodes():
            if _migrated(view, node.name, volume.in_tree.plugin):
                found[row] = reaches(view, node, volume)
    return found


def _migrated(view: Snapshot, node: str, plugin: str) -> bool:
    csi_node = view.storage.csi_node(node)
    return csi_node is not None and plugin in csi_node.migrated
