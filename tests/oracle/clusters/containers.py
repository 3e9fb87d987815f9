"""Containers of pods: requests, sidecars, host ports, images."""

from __future__ import annotations

from tests.oracle.clusters.amounts import container_resources, requests
from tests.oracle.clusters.vocabulary import Json
from tests.oracle.source import Source

_IMAGES = ("app:1", "registry.local/big:2", "registry.local/big:3", "app")
# kube-scheduler takes the size of an image from the node that it saw first: here all nodes say the same.
_SIZES = {"app:1": 60_000_000, "registry.local/big:2": 400_000_000, "registry.local/big:3": 2_000_000_000}
_PORTS = (80, 443, 8080)
_IPS = ("", "0.0.0.0", "127.0.0.1", "10.0.0.1", "::")


def containers(source: Source, features: frozenset[str]) -> tuple[list[Json], list[Json]]:
    """Containers and init containers."""
    taken: set[tuple[str, str, int]] = set()
    main = [_container(source, f"c{i}", features, taken) for i in range(source.integer(1, 2))]
    init = []
    if "sidecars" in features and source.chance(40):
        for i in range(source.integer(1, 3)):
            container = _container(source, f"i{i}", features, taken)
            if source.chance(55):
                container["restartPolicy"] = "Always"
            init.append(container)
    return main, init


def _container(source: Source, name: str, features: frozenset[str], taken: set[tuple[str, str, int]]) -> Json:
    container: Json = {"name": name, "image": source.pick(_IMAGES)}
    wanted = requests(source) if "resources" in features and source.chance(80) else {}
    if resources := container_resources(wanted):
        container["resources"] = resources
    if "ports" in features and source.chance(60):
        container["ports"] = [port for _ in source.times(1, 2) if (port := _port(source, taken))]
    return container


def _port(source: Source, taken: set[tuple[str, str, int]]) -> Json | None:
    number = source.pick(_PORTS)
    port: Json = {"containerPort": number, "protocol": source.pick(("TCP", "TCP", "UDP", "SCTP"))}
    if source.chance(85):
        port["hostPort"] = number
        if ip := source.pick(_IPS):
            port["hostIP"] = ip
    # The API server refuses the same host port twice in one pod.
    key = (port["protocol"], port.get("hostIP", "0.0.0.0"), number)
    if key in taken:
        return None
    taken.add(key)
    return port


def images(source: Source) -> list[Json]:
    found = []
    for image, size_bytes in source.some(tuple(_SIZES.items()), at_most=2):
        names = [f"docker.io/library/{image}", image] if "/" not in image else [image]
        found.append({"names": names, "sizeBytes": size_bytes})
    return found
