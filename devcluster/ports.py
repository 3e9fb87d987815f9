"""Ports on loopback for the processes of one cluster."""

import random
import socket
from typing import NamedTuple

# Below the range that Linux and macOS hand out to outgoing connections (32768 and up): a port
# from there could be taken by a client connection while its owner is restarted.
_FIRST_PORT = 20_000
_LAST_PORT = 32_000
_ATTEMPTS = 100


class Ports(NamedTuple):
    """One port per listener."""

    etcd: int
    etcd_peer: int
    api_server: int
    controller_manager: int
    kwok: int
    metrics_server: int
    prometheus: int
    exporter: int
    kubelet: int
    kube_scheduler: int


def choose(rng: random.Random | None = None) -> Ports:
    """A block of neighbouring free ports.

    Whole blocks at random starts, so that two clusters that start at the same moment rarely meet.

    Raises:
        OSError: no free block was found.
    """
    size = len(Ports._fields)
    pick = rng or random.SystemRandom()
    for _ in range(_ATTEMPTS):
        first = pick.randrange(_FIRST_PORT, _LAST_PORT, size)
        block = range(first, first + size)
        if all(is_free(port) for port in block):
            return Ports(*block)
    raise OSError(f"no {size} free ports in a row between {_FIRST_PORT} and {_LAST_PORT}")


def is_free(port: int) -> bool:
    """Whether a listener on loopback could take this port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
