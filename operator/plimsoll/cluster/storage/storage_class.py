"""A StorageClass."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.cluster.selectors import LabelSelector, Operator, Requirement
from plimsoll.cluster.storage.reading import Json, read

WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"


@dataclass(frozen=True, slots=True)
class StorageClass:
    """What scheduling asks about a StorageClass.

    Attributes:
        binding_mode: None where it is not set, which the API server does not let pass.
        allowed_topologies: of nodes that volumes can be made for, any of them; none at all allows every node.
    """

    name: str
    provisioner: str = ""
    binding_mode: str | None = None
    allowed_topologies: tuple[LabelSelector, ...] = ()

    @property
    def key(self) -> str:
        return self.name

    @classmethod
    def parse(cls, storage_class: Json) -> StorageClass:
        """Raises ObjectError."""
        return read("StorageClass", storage_class, _parse)


def _parse(storage_class: Json) -> StorageClass:
    return StorageClass(
        name=storage_class["metadata"]["name"],
        provisioner=storage_class.get("provisioner") or "",
        binding_mode=storage_class.get("volumeBindingMode"),
        allowed_topologies=tuple(_topology(term) for term in storage_class.get("allowedTopologies") or ()),
    )


def _topology(term: Json) -> LabelSelector:
    """A term without expressions selects nothing, unlike a label selector without requirements."""
    wanted = tuple(
        Requirement(str(expression.get("key") or ""), Operator.IN, frozenset(expression.get("values") or ()))
        for expression in term.get("matchLabelExpressions") or ()
    )
    return LabelSelector(wanted or (Requirement("", Operator.NEVER),))
