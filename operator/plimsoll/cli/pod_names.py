"""How people name pods: ``web-1``, ``pod/web-1`` as kubectl prints it, ``shop/web-1`` as Plimsoll does."""

from __future__ import annotations

from plimsoll.errors import InvalidInput

_KIND_WORDS = frozenset({"pod", "pods", "po"})


def split_pod_name(name: str, namespace: str | None = None) -> tuple[str | None, str]:
    """Namespace (the given one where the name says none) and name.

    Raises:
        InvalidInput: the name says another namespace than the given one.
    """
    place, slash, rest = name.partition("/")
    if not slash:
        return namespace, name
    if place in _KIND_WORDS:
        return namespace, rest
    if namespace not in {None, place}:
        raise InvalidInput(f"{name} is not in namespace {namespace}: leave one of the two out")
    return place, rest
