"""Answers of Prometheus as arrays: labels are looked at once per series, all that follows is arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from plimsoll.load.naming import Nodes
from plimsoll.load.readings import Floats
from plimsoll.load.samples import Sample

Ints = NDArray[np.int64]
Target = tuple[str, ...]

# Instead of a node's number, where a target names none, or more than one.
UNMAPPED, AMBIGUOUS = -1, -2


class Vector(NamedTuple):
    """One query's answer, arrays of shape [n] in its order.

    Attributes:
        target: which target each series comes from.
        device: which device it is about.
    """

    samples: Sequence[Sample]
    target: Ints
    device: Ints
    value: Floats


class Vectors:
    """Numbers for targets, nodes, instances and devices, of one refresh.

    Attributes:
        targets: [T], label values by number.
        devices: names by number; 0 is "", for what is about no device.
        names: of the nodes that the targets name, by number.
        node: [T], by target; UNMAPPED or AMBIGUOUS where it names none, or more.
        instance: [T], a number by target; 0 is "".

    Args:
        labels: which make a target.
        nodes_of: the nodes that labels may mean; asked once per target.
        numbers: of the nodes that are known, by name.
    """

    def __init__(
        self,
        answers: Mapping[str, Sequence[Sample]],
        *,
        labels: tuple[str, ...],
        nodes_of: Callable[[Mapping[str, str]], Nodes],
        numbers: Mapping[str, int],
    ) -> None:
        self._labels, self._blanks = labels, ("",) * len(labels)
        self._targets: dict[Target, int] = {}
        self._devices: dict[str, int] = {"": 0}
        self._node: list[int] = []
        self._nodes_of, self._numbers = nodes_of, numbers
        self._vectors = {id_: self._vector(samples) for id_, samples in answers.items()}
        self.targets, self.devices = list(self._targets), list(self._devices)
        self.node = np.array(self._node, dtype=np.int64)
        self.instance = self._instances()

    def of(self, id_: str) -> Vector:
        """Empty where the query was not answered."""
        return self._vectors.get(id_, _NOTHING)

    def largest_by_target(self, id_: str) -> Floats:
        """[T], the largest finite value of each; NaN where there is none."""
        vector = self.of(id_)
        return Largest.of(vector.target, vector.value).at(np.arange(len(self.targets)))

    def things(self, vector: Vector) -> Ints:
        """[n], numbers that are equal for what is about one device of one node; negative where there is no one node."""
        node = self.node[vector.target]
        return np.where(node < 0, node, node * len(self.devices) + vector.device)

    def thing(self, node: Ints, device: int) -> Ints:
        """The same for a device of nodes."""
        return node * len(self.devices) + device

    def _vector(self, samples: Sequence[Sample]) -> Vector:
        labels, blanks, number = self._labels, self._blanks, self._number
        known, devices = self._targets.get, self._devices
        target, device = np.zeros(len(samples), dtype=np.int64), np.zeros(len(samples), dtype=np.int64)
        for i, sample in enumerate(samples):
            of = sample.labels
            key = tuple(map(of.get, labels, blanks))
            at = known(key)
            target[i] = number(key, of) if at is None else at
            if "device" in of:
                device[i] = devices.setdefault(of["device"], len(devices))
        return Vector(samples, target, device, np.array([sample.value for sample in samples], dtype=np.float64))

    def _number(self, target: Target, labels: Mapping[str, str]) -> int:
        number = self._targets[target] = len(self._targets)
        nodes = self._nodes_of(labels)
        self._node.append(self._numbers[next(iter(nodes))] if len(nodes) == 1 else (AMBIGUOUS if nodes else UNMAPPED))
        return number

    def _instances(self) -> Ints:
        numbers, at = {"": 0}, self._labels.index("instance")
        return np.array([numbers.setdefault(t[at], len(numbers)) for t in self.targets], dtype=np.int64)


class Largest(NamedTuple):
    """The largest finite value by key.

    Attributes:
        keys: ascending.
    """

    keys: Ints
    values: Floats

    @classmethod
    def of(cls, keys: Ints, values: Floats) -> Self:
        """Negative keys are left out."""
        usable = (keys >= 0) & np.isfinite(values)
        keys, values = keys[usable], values[usable]
        order = np.lexsort((values, keys))
        keys = keys[order]
        last = _last_of_each(keys)
        return cls(keys[last], values[order][last])

    def at(self, keys: Ints) -> Floats:
        """NaN where there is none."""
        if not len(self.keys):
            return np.full(len(keys), np.nan)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, self.values[at], np.nan)


def best_of_each(group: Ints, *order: Floats | NDArray[np.int8]) -> Ints:
    """Where the greatest of each group is, by the first of the orders, then the next; ascending by group."""
    sequence = np.lexsort((*reversed(order), group))
    best: Ints = sequence[_last_of_each(group[sequence])]
    return best


def _last_of_each(ascending: Ints) -> NDArray[np.bool_]:
    last = np.ones(len(ascending), dtype=np.bool_)
    last[:-1] = ascending[1:] != ascending[:-1]
    return last


_NOTHING = Vector((), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
