"""An HTTP session that cannot be led on: no redirects, no netrc, no huge answer, and it can be cut off."""

from __future__ import annotations

import contextlib
import io
import ipaddress
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.utils import get_environ_proxies

from plimsoll import __version__
from plimsoll.errors import SourceUnreachable
from plimsoll.sources.quick_json import QuickResponse

# A hundred times what 5,000 nodes answer; more is no answer to our questions.
_MAX_BODY_BYTES = 64 * 1024 * 1024
_CHUNK_BYTES = 64 * 1024


class BoundedSession(requests.Session):
    """For one address and one thread; ``cut_off`` may be called by another.

    Attributes:
        answer: the last response; None before the first, and where none came.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        # Else requests sends whatever a netrc file has for the host, to an address that a policy names.
        self.trust_env = False
        self.proxies = _proxies(url)
        self.headers["User-Agent"] = f"plimsoll/{__version__}"
        self.answer: requests.Response | None = None
        self._cut_off = False
        self._coming: requests.Response | None = None

    def get_redirect_target(self, resp: requests.Response) -> None:  # noqa: ARG002 - requests' interface
        """Never: a redirect would take headers, and later credentials, to where nobody has allowed them."""
        return

    def send(self, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        """The response with its body read, decoded and kept.

        Raises:
            SourceUnreachable: the body is too large, or the session was cut off.
        """
        self.answer = None
        response = QuickResponse(super().send(request, **{**kwargs, "stream": True}))
        self._coming = response
        try:
            body = self._body(response)
        finally:
            self._coming = None
            response.close()
        response.raw = io.BytesIO(body)
        self.answer = response
        return response

    def cut_off(self) -> None:
        """Ends a transfer under way, however slowly it trickles; the session is of no use any more."""
        self._cut_off = True
        coming = self._coming
        if coming is not None:
            with contextlib.suppress(OSError, RuntimeError, ValueError):  # it has ended by itself
                coming.raw.shutdown()
        self.close()

    def _body(self, response: requests.Response) -> bytes:
        body = bytearray()
        for chunk in response.raw.stream(_CHUNK_BYTES, decode_content=True):
            body += chunk
            if self._cut_off:
                raise SourceUnreachable("the answer came too late")
            if len(body) > _MAX_BODY_BYTES:
                raise SourceUnreachable(f"its answer is larger than {_MAX_BODY_BYTES // 2**20} MiB")
        return bytes(body)


def _proxies(url: str) -> dict[str, str]:
    """The environment's, except for loopback, where no proxy can reach; Go's programs have it the same way."""
    host = urlsplit(url).hostname or ""
    return {} if _is_loopback(host) else dict(get_environ_proxies(url, no_proxy=None))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
