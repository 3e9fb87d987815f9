"""Set the fake nodes' load while the exporter runs."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, Unpack

from devcluster.errors import ExporterError
from devcluster.exporter.load import Load

_TIMEOUT_S = 30.0
# The environment's proxies are for the world outside, not for loopback.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class ExporterClient:
    """The interface that tests and the demo use. All calls raise ExporterError when refused."""

    def __init__(self, url: str) -> None:
        self.url = url

    def set(self, node: str, **change: Unpack[Load]) -> None:
        """Change the load of one node; what is not named stays as it is."""
        self.set_many({node: change})

    def set_many(self, changes: Mapping[str, Load]) -> None:
        """Change the load of many nodes at one moment."""
        self._request("PATCH", "/nodes", changes)

    def reset_counters(self, *nodes: str) -> None:
        """Start the nodes' counters at zero again, as a reboot does."""
        self._request("POST", "/nodes/reset", nodes)

    def add(self, loads: Mapping[str, Load]) -> None:
        """Begin to export nodes."""
        self._request("POST", "/nodes", loads)

    def remove(self, *nodes: str) -> None:
        """Export nodes no longer, as for machines that were taken away."""
        self._request("DELETE", "/nodes", nodes)

    def node_exporter(self, node: str) -> str:
        """What Prometheus reads of the node."""
        return self._request("GET", f"/metrics/nodes/{node}/exporter")

    def cadvisor(self, node: str) -> str:
        """What Prometheus reads of the node's pods."""
        return self._request("GET", f"/metrics/nodes/{node}/metrics/cadvisor")

    def kubelet_resource_metrics(self, node: str) -> str:
        """What metrics-server reads of the node."""
        return self._request("GET", f"/metrics/nodes/{node}/metrics/resource")

    def _request(self, method: str, path: str, body: Any = None) -> str:
        request = urllib.request.Request(  # noqa: S310 - the exporter's own address
            self.url + path, method=method, data=None if body is None else json.dumps(body).encode()
        )
        try:
            with _OPENER.open(request, timeout=_TIMEOUT_S) as response:
                answer: bytes = response.read()
                return answer.decode()
        except urllib.error.HTTPError as error:
            with error:
                raise ExporterError(f"{method} {path}: {error.read().decode()}") from error
        except OSError as error:
            raise ExporterError(f"the exporter at {self.url} does not answer: {error}") from error
