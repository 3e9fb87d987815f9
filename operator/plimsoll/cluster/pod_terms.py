"""Terms of pod affinity and anti-affinity, parsed once per pod (kube-scheduler's ``framework.AffinityTerm``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from plimsoll.cluster.selectors import LabelSelector
from plimsoll.cluster.strict_selectors import MalformedSelector, strict_selector

Json = Mapping[str, Any]
Labels = Mapping[str, str]

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NO_LABELS: Labels = {}
_Term = TypeVar("_Term")
# Replicas share their terms; more distinct ones than this are merely kept more than once.
_SHARED_TERMS = 4096


@dataclass(frozen=True, slots=True)
class PodSelector:
    """Which pods a term speaks of.

    Attributes:
        namespaces: named ones; the owner's where the term names none in any way.
        namespace_selector: selects more of them; None selects none.
        labels: None selects no pod.
    """

    namespaces: frozenset[str]
    labels: LabelSelector | None
    namespace_selector: LabelSelector | None = None

    def selects(self, namespace: str, namespace_labels: Labels | None, labels: Labels) -> bool:
        """As a term of a pod that is on a node sees an incoming pod; unknown namespaces have no labels."""
        if self.labels is None or not self.labels.matches(labels):
            return False
        return namespace in self.namespaces or self._selects_namespace(namespace_labels or _NO_LABELS)

    def of_incoming_selects(self, namespace: str, namespace_labels: Labels | None, labels: Labels) -> bool:
        """As a term of an incoming pod sees a pod on a node.

        kube-scheduler resolves the namespaceSelector into names and then still asks it about an empty set of labels:
        one that needs no label (NotIn and DoesNotExist alone) therefore selects every namespace.
        """
        if self.labels is None or not self.labels.matches(labels):
            return False
        return self.of_incoming_selects_namespace(namespace, namespace_labels)

    def of_incoming_selects_namespace(self, namespace: str, namespace_labels: Labels | None) -> bool:
        """The same of a pod's namespace alone."""
        return (
            namespace in self.namespaces
            or self._selects_namespace(namespace_labels or _NO_LABELS)
            or self._selects_namespace(_NO_LABELS)
        )

    def _selects_namespace(self, namespace_labels: Labels) -> bool:
        return self.namespace_selector is not None and self.namespace_selector.matches(namespace_labels)


@dataclass(frozen=True, slots=True)
class AffinityTerm:
    pods: PodSelector
    topology_key: str


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    term: AffinityTerm
    weight: int


@dataclass(frozen=True, slots=True)
class PodTerms:
    """All terms of one pod.

    Attributes:
        problem: kube-scheduler's sentence about selectors that it cannot read; "" where there are none. It fails an
            incoming pod. Of a pod on a node only the terms of that kind count as absent.
    """

    required_affinity: tuple[AffinityTerm, ...] = ()
    required_anti_affinity: tuple[AffinityTerm, ...] = ()
    preferred_affinity: tuple[WeightedTerm, ...] = ()
    preferred_anti_affinity: tuple[WeightedTerm, ...] = ()
    problem: str = ""

    @classmethod
    def parse(cls, affinity: Json | None, namespace: str) -> PodTerms:
        """From a pod's ``spec.affinity``; raises TypeError and the like where JSON has the wrong shape."""
        together, apart = ((affinity or {}).get(kind) or {} for kind in ("podAffinity", "podAntiAffinity"))
        if not together and not apart:
            return _NO_TERMS
        problems: list[str] = []
        required, weighted = _reader(_term, namespace, problems), _reader(_weighted, namespace, problems)
        return cls(
            required("requiredAffinityTerms", together.get(_REQUIRED)),
            required("requiredAntiAffinityTerms", apart.get(_REQUIRED)),
            weighted("preferredAffinityTerms", together.get(_PREFERRED)),
            weighted("preferredAntiAffinityTerms", apart.get(_PREFERRED)),
            problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]" if problems else "",
        )


_NO_TERMS = PodTerms()


def _reader(
    parse: Callable[[Json, str], _Term], namespace: str, problems: list[str]
) -> Callable[[str, Iterable[Json] | None], tuple[_Term, ...]]:
    """Reads all terms of one kind; one that is malformed takes the others of its kind with it."""

    def read(kind: str, terms: Iterable[Json] | None) -> tuple[_Term, ...]:
        try:
            return tuple(parse(term, namespace) for term in terms or ())
        except MalformedSelector as error:
            problems.append(f"{kind}: {error}")
            return ()

    return read


def _weighted(preferred: Json, namespace: str) -> WeightedTerm:
    return WeightedTerm(_term(preferred.get("podAffinityTerm") or {}, namespace), int(preferred.get("weight") or 0))


def _term(term: Json, namespace: str) -> AffinityTerm:
    labels = strict_selector(term.get("labelSelector"))
    named, selected = term.get("namespaces") or (), term.get("namespaceSelector")
    namespaces = frozenset(named) if named or selected is not None else frozenset((namespace,))
    return _shared(
        AffinityTerm(PodSelector(namespaces, labels, strict_selector(selected)), str(term.get("topologyKey") or ""))
    )


@lru_cache(_SHARED_TERMS)
def _shared(term: AffinityTerm) -> AffinityTerm:
    return term
