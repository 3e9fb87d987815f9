"""Which host ports are in use on which node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from plimsoll.cluster.pod import HostPort

_WILDCARD = "0.0.0.0"  # noqa: S104


class PortIndex:
    """Rows by protocol and port, then addresses with their number of users."""

    def __init__(self) -> None:
        self._users: dict[tuple[str, int], dict[int, Counter[str]]] = {}

    def add(self, row: int, ports: Iterable[HostPort]) -> None:
        for port in ports:
            self._users.setdefault((port.protocol, port.port), {}).setdefault(row, Counter())[port.ip] += 1

    def remove(self, row: int, ports: Iterable[HostPort]) -> None:
        for port in ports:
            rows = self._users[port.protocol, port.port]
            rows[row][port.ip] -= 1
            rows[row] += Counter()  # drops what is at zero
            if not rows[row]:
                del rows[row]

    def users(self, row: int, ports: Iterable[HostPort]) -> Counter[HostPort]:
        """What is in use on the row of the same protocols and numbers, with the number of users."""
        return Counter(
            {
                HostPort(ip, protocol, number): count
                for protocol, number in {(port.protocol, port.port) for port in ports}
                for ip, count in self._users.get((protocol, number), {}).get(row, {}).items()
            }
        )

    def rows_in_conflict(self, port: HostPort) -> Iterator[int]:
        """Rows where a pod that wants this port cannot run: same protocol and port, and addresses that overlap."""
        for row, addresses in self._users.get((port.protocol, port.port), {}).items():
            if port.ip == _WILDCARD or _WILDCARD in addresses or port.ip in addresses:
                yield row


def conflict(one: HostPort, other: HostPort) -> bool:
    """The same protocol and number, and addresses that overlap."""
    if (one.protocol, one.port) != (other.protocol, other.port):
        return False
    return one.ip == other.ip or _WILDCARD in {one.ip, other.ip}
