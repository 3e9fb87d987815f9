"""Finds, for one pod, which of very many selectors could select it, without asking them all."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from plimsoll.cluster.pod_terms import PodSelector
from plimsoll.cluster.selectors import LabelSelector, Operator, Requirement

Labels = Mapping[str, str]
_Item = TypeVar("_Item", bound=Hashable)

# Namespace, key and value that a selected pod must have; None: any.
_Place = tuple[str | None, str | None, str | None]

# A selector stands at each combination of its namespaces and the values of one key; more than this are not worth it.
_MOST_NAMESPACES, _MOST_VALUES = 16, 32


class SelectorIndex(Generic[_Item]):
    """Items by one thing that all of their selectors' pods must have.

    Where a selector leaves the choice, it stands where it shares its place with the fewest others: 25,000 selectors
    that share one pair and differ in another are told apart.
    """

    def __init__(self) -> None:
        self._items: dict[_Place, dict[_Item, None]] = {}
        self._places: dict[_Item, tuple[_Place, ...]] = {}

    def add(self, item: _Item, selectors: Sequence[PodSelector]) -> None:
        """An item whose selectors must all select a pod; one that selects nothing hides it."""
        if any(selector.labels is None for selector in selectors):
            return
        options = (option for selector in selectors for option in _options(selector))
        _, places = min(options, key=lambda option: (option[0], max(self._crowd(place) for place in option[1])))
        self._places[item] = places
        for place in places:
            self._items.setdefault(place, {})[item] = None

    def remove(self, item: _Item) -> None:
        for place in self._places.pop(item, ()):
            items = self._items[place]
            del items[item]
            if not items:
                del self._items[place]

    def candidates(self, namespace: str, labels: Labels) -> Iterator[_Item]:
        """Each item once that could concern the pod; each must still be asked."""
        items = self._items
        for scope in (namespace, None):
            yield from items.get((scope, None, None), ())
            for key, value in labels.items():
                yield from items.get((scope, key, value), ())
                yield from items.get((scope, key, None), ())

    def _crowd(self, place: _Place) -> int:
        return len(self._items.get(place, ()))


def _options(selector: PodSelector) -> Iterator[tuple[int, tuple[_Place, ...]]]:
    """Where a selector may stand, each with its rank; a lower one tells more apart."""
    scopes: tuple[str | None, ...] = tuple(selector.namespaces)
    if selector.namespace_selector is not None or not 0 < len(scopes) <= _MOST_NAMESPACES:
        scopes = (None,)
    labels = selector.labels or LabelSelector()
    for requirement in labels.requirements:
        yield from _of_requirement(requirement, scopes)
    yield 2, tuple((scope, None, None) for scope in scopes)


def _of_requirement(
    requirement: Requirement, scopes: tuple[str | None, ...]
) -> Iterator[tuple[int, tuple[_Place, ...]]]:
    key, values = requirement.key, requirement.values
    if requirement.operator is Operator.IN and len(values) <= _MOST_VALUES:
        yield 0, tuple((scope, key, value) for scope in scopes for value in values)
    elif requirement.operator in {Operator.IN, Operator.EXISTS}:
        yield 1, tuple((scope, key, None) for scope in scopes)
