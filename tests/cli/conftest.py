"""An API server of a few canned answers, and what the command line prints in front of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import click
import pytest
from click.testing import CliRunner, Result

from plimsoll.cli import main


class Canned:
    """Answers by path with query; everything else is not found, in the API server's words.

    Attributes:
        answers: (status, body) by path; a body that is no text is sent as JSON.
        asked: path with query of every request, unquoted.
    """

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, Any]] = {}
        self.asked: list[str] = []
        self.url = ""

    def put(self, path: str, body: Any, *, status: int = 200) -> None:
        self.answers[path] = (status, body)

    def answer(self, path: str) -> tuple[int, bytes]:
        self.asked.append(path)
        missing = {"kind": "Status", "code": 404, "message": f"{path} not found"}
        status, body = self.answers.get(path, (404, missing))
        return status, (body if isinstance(body, str) else json.dumps(body)).encode()


@pytest.fixture
def canned() -> Iterator[Canned]:
    canned = Canned()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = canned.answer(unquote(self.path))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Not on the test's stderr."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        canned.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield canned
        server.shutdown()
        thread.join()


@pytest.fixture
def kubeconfig_of(tmp_path: Path) -> Callable[..., str]:
    """Writes a kubeconfig for a URL; contexts ``here`` (current) and ``shop``, which has a namespace."""

    def write(url: str) -> str:
        shop = {"cluster": "c", "user": "u", "namespace": "shop"}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": url}}],
            "users": [{"name": "u", "user": {"token": "t"}}],
            "contexts": [
                {"name": "here", "context": {"cluster": "c", "user": "u"}},
                {"name": "shop", "context": shop},
            ],
            "current-context": "here",
        }
        path = tmp_path / "kubeconfig"
        path.write_text(json.dumps(config))
        return str(path)

    return write


@pytest.fixture
def plimsoll() -> Callable[..., Result]:
    """``plimsoll("explain", "pod", ...)`` as typed, without anybody's own kubeconfig."""

    def run(*arguments: str, **environment: str) -> Result:
        env = {"KUBECONFIG": None, "HOME": "/nonexistent"} | environment
        result = CliRunner().invoke(main, list(arguments), env=env)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    assert isinstance(main, click.Group)
    return run
