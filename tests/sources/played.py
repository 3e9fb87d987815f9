"""HTTP servers that play foreign software: Prometheus, and the API server in front of metrics-server."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True, slots=True)
class Asked:
    path: str
    parameters: Mapping[str, str]
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Reply:
    """``body`` may be an endless iterable of chunks; None never answers at all."""

    status: int = 200
    body: bytes | Iterable[bytes] | None = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class Played:
    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.reply: Callable[[Asked], Reply] = lambda _: vector()
        self.released = threading.Event()
        self.under_way = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # clients hang up on purpose
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def queries(self) -> list[str]:
        return [asked.parameters["query"] for asked in self.asked]

    @contextmanager
    def running(self) -> Iterator[Played]:
        self._thread.start()
        try:
            yield self
        finally:
            self.released.set()
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def _handler(played) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - self is the handler's
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                parameters = {name: values[-1] for name, values in parse_qs(parts.query).items()}
                asked = Asked(parts.path, parameters, {k.lower(): v for k, v in self.headers.items()})
                with played._lock:
                    played.asked.append(asked)
                    played.under_way += 1
                try:
                    self._answer(played.reply(asked))
                finally:
                    with played._lock:
                        played.under_way -= 1

            def _answer(self, reply: Reply) -> None:
                if reply.body is None:
                    played.released.wait()
                    self.close_connection = True
                    return
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if isinstance(reply.body, bytes):
                    self.send_header("Content-Length", str(len(reply.body)))
                    self.end_headers()
                    self.wfile.write(reply.body)
                    return
                self.close_connection = True
                self.end_headers()
                for chunk in reply.body:
                    self.wfile.write(chunk)

            def log_message(self, *args: Any) -> None:
                """Silence."""

        return Handler


def vector(*series: tuple[Mapping[str, str], str]) -> Reply:
    result = [{"metric": dict(labels), "value": [1700000000.5, value]} for labels, value in series]
    return in_json({"status": "success", "data": {"resultType": "vector", "result": result}})


def refusal(status: int, kind: str, message: str) -> Reply:
    return in_json({"status": "error", "errorType": kind, "error": message}, status=status)


def in_json(document: Any, *, status: int = 200) -> Reply:
    return Reply(status=status, body=json.dumps(document).encode(), headers={"Content-Type": "application/json"})


NEVER = Reply(body=None)
