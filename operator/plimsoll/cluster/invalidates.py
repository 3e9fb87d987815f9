"""What a change of one node, or of the pods on it, invalidates of a verdict that is kept per row."""

from __future__ import annotations

import enum


class Invalidates(enum.Enum):
    """How far the change of one row reaches: what a filter, or a preference, declares of itself.

    It speaks of pods that come, go or change on a node and of nodes that change. What changes an object of another kind
    (a claim, a volume, a namespace, a Service) invalidates everything that is not kept by the node alone.
    """

    ROW = enum.auto()  # the row itself alone
    DOMAIN = enum.auto()  # rows that share a topology domain with it, by whatever key is asked about
    ALL = enum.auto()  # any row: the verdict compares domains, or looks at objects that belong to no node
