"""Container images: what nodes have of them, and what pods need. Rules: kube-scheduler's ImageLocality."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

Json = Mapping[str, Any]


class Image(NamedTuple):
    name: str
    size_bytes: int


@lru_cache(maxsize=65536)
def _shared(name: str, size_bytes: int) -> Image:
    """One object for all the nodes that have the image: thousands of nodes list the same hundreds of names."""
    return Image(name, size_bytes)


def node_images(status: Json) -> tuple[Image, ...]:
    """What a node has, sorted by name. An image has several names; of a name listed twice the last entry counts."""
    sizes: dict[str, int] = {}
    for image in status.get("images") or ():
        size_bytes = int(image.get("sizeBytes") or 0)
        sizes.update(dict.fromkeys(image.get("names") or (), size_bytes))
    return tuple(_shared(name, size_bytes) for name, size_bytes in sorted(sizes.items()))


def size_on(images: tuple[Image, ...], name: str) -> int | None:
    """Bytes of the image on a node that has ``images``; None where it does not have it."""
    place = bisect_left(images, (name,))
    found = place < len(images) and images[place].name == name
    return images[place].size_bytes if found else None


def containers(spec: Json) -> int:
    """How many containers the pod has, init containers included."""
    return len(spec.get("initContainers") or ()) + len(spec.get("containers") or ())


def pod_images(spec: Json) -> tuple[str, ...]:
    """Names of the images of all containers, init containers and image volumes, one entry for each use."""
    return tuple(sys.intern(_with_tag(name)) for name in _used(spec))


def _used(spec: Json) -> Iterator[str]:
    for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ())):
        yield container.get("image") or ""
    for volume in spec.get("volumes") or ():
        if volume.get("image") is not None:
            yield volume["image"].get("reference") or ""


def _with_tag(name: str) -> str:
    """As nodes list it: a colon before the last slash is a port, not a tag."""
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"
