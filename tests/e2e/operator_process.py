"""The operator as a process, as a user would start it."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from tests.image.installation import Installation

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class OperatorProcess:
    """``plimsoll run`` as the image has it, with its log in a file; ended by pid."""

    def __init__(
        self, installation: Installation, *, kubeconfig: Path, folder: Path, flags: tuple[str, ...] = ()
    ) -> None:
        self._installation = installation
        self.url = f"http://127.0.0.1:{free_port()}"
        self.log = folder / f"operator-{self.url.rsplit(':', 1)[1]}.log"
        self._argv = (
            "run",
            *("--kubeconfig", str(kubeconfig)),
            *("--metrics-address", self.url.removeprefix("http://")),
            *("--namespace", "plimsoll-system"),
            *("--log-format", "json"),
            *flags,
        )
        self._child: subprocess.Popen[str] | None = None

    def start(self, *, wait: bool = True) -> Self:
        self._child = self._installation.start(*self._argv, output=self.log)
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self, timeout_s: float = 30) -> None:
        deadline_s = time.monotonic() + timeout_s
        while self.get("/readyz")[0] != 200:
            assert self.running, f"the operator ended:\n{self.tail()}"
            assert time.monotonic() < deadline_s, f"the operator is not ready:\n{self.tail()}"
            time.sleep(0.2)

    @property
    def running(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def kill(self) -> None:
        """As the kernel would, out of memory: no chance to tidy up."""
        assert self._child is not None
        self._child.kill()
        self._child.wait()

    def stop(self, timeout_s: float = 20) -> tuple[int, float]:
        """SIGTERM; the exit code and how long it took in seconds."""
        assert self._child is not None
        started_s = time.monotonic()
        self._child.send_signal(signal.SIGTERM)
        code = self._child.wait(timeout_s)
        return code, time.monotonic() - started_s

    def end(self) -> None:
        if self.running:
            self.kill()

    def get(self, path: str) -> tuple[int, str]:
        """Status and body; status 0 where nobody answers."""
        try:
            with _OPENER.open(self.url + path, timeout=5) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def tail(self, lines: int = 40) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
