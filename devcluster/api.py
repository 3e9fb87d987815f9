"""The little that this package itself says to the API server, over as few connections as it can."""

import contextlib
import http.client
import json
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from devcluster.errors import ApiError
from devcluster.pki import Pki

_TIMEOUT_S = 30.0
_CONNECTIONS = 16


def admin_context(pki: Pki) -> ssl.SSLContext:
    """TLS as the cluster's administrator."""
    context = ssl.create_default_context(cafile=str(pki.ca))
    context.load_cert_chain(pki.certificate("admin"), pki.key("admin"))
    return context


class ApiClient:
    """JSON in, JSON out."""

    def __init__(self, server: str, *, context: ssl.SSLContext) -> None:
        self._address = urlsplit(server).netloc
        self._context = context

    def get(self, path: str) -> Any:
        """Read.

        Raises:
            ApiError: the API server refused.
            OSError: it could not be reached.
        """
        with self._connection() as connection:
            return _exchange(connection, "GET", path)

    def create(self, path: str, manifest: Mapping[str, Any]) -> Any:
        """Create one object; raises as `get` does."""
        with self._connection() as connection:
            return _exchange(connection, "POST", path, manifest)

    def create_many(self, path: str, manifests: Sequence[Mapping[str, Any]]) -> None:
        """Create many objects, on a connection per thread; raises as `get` does."""
        if not manifests:
            return
        local = threading.local()
        with contextlib.ExitStack() as connections:

            def connect() -> None:
                local.connection = connections.enter_context(self._connection())

            def create(manifest: Mapping[str, Any]) -> None:
                _exchange(local.connection, "POST", path, manifest)

            threads = min(_CONNECTIONS, len(manifests))
            with ThreadPoolExecutor(threads, initializer=connect) as pool:
                list(pool.map(create, manifests))

    @contextlib.contextmanager
    def _connection(self) -> Iterator[http.client.HTTPSConnection]:
        connection = http.client.HTTPSConnection(self._address, timeout=_TIMEOUT_S, context=self._context)
        with contextlib.closing(connection):
            yield connection


def _exchange(
    connection: http.client.HTTPSConnection, method: str, path: str, body: Mapping[str, Any] | None = None
) -> Any:
    connection.request(
        method, path, body=json.dumps(body) if body else None, headers={"Content-Type": "application/json"}
    )
    response = connection.getresponse()
    content = response.read()
    if response.status >= http.HTTPStatus.BAD_REQUEST:
        raise ApiError(response.status, content.decode(errors="replace"))
    return json.loads(content)
