"""A loaded configuration turned into TLS and headers for aiohttp, with credentials that stay fresh."""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import orjson
from kubernetes.client import Configuration
from yarl import URL

from plimsoll import __version__
from plimsoll.errors import SettingsError
from plimsoll.kube.config import ClusterAccess
from plimsoll.kube.lane import Credentials, Lane

log = logging.getLogger(__name__)

# A bound token is rotated at 80 % of its life, an hour at least: a minute late is early enough.
_REFRESH_S = 60.0
# A plugin or a file that gives refused credentials is not asked again for each request that is refused.
_RELOAD_AT_MOST_EVERY_S = 5.0
# As client-go's; a dead node of the control plane is noticed in seconds rather than by TCP.
_CONNECT_S = 5.0
_KEEPALIVE_S = 60.0


class Connection:
    """One API server and one identity.

    Attributes:
        server: the URL without a trailing slash.
        configuration: the official client's, for whoever talks through that client.
    """

    def __init__(self, access: ClusterAccess, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Reads everything at once; may run an exec plugin and block.

        Raises:
            SettingsError: says what cannot be used, and what to do.
        """
        self._access = access
        self._clock = clock
        self.configuration = access.load()
        self.server = str(self.configuration.host).rstrip("/")
        self._origin = URL(self.server).origin()
        self._tls = _tls(self.configuration, access) if self.server.startswith("https:") else None
        self._credentials = Credentials(_authorization(self.configuration), generation=0)
        self._refreshed_s = self._reloaded_s = clock()
        self._refreshing: asyncio.Task[None] | None = None
        self._reloading = asyncio.Lock()

    def __str__(self) -> str:
        return f"{self.server} ({self._access})"

    def session(
        self, *, traces: Sequence[aiohttp.TraceConfig] = (), response_class: type[Response] | None = None
    ) -> aiohttp.ClientSession:
        """A new session; whoever asked closes it. Its requests carry the credentials of the moment.

        They go to the API server alone, never to where a redirect leads.

        Args:
            traces: who is told of requests.
            response_class: of the answers, where they are not to be plain ones.
        """
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                # What is sent at a time is bounded by those who send, each for itself.
                limit=0,
                ssl=self._tls or True,
                keepalive_timeout=_KEEPALIVE_S,
            ),
            # As kube-scheduler has it: compressing costs the API server more than a cluster's network saves.
            headers={
                "User-Agent": f"plimsoll/{__version__}",
                "Accept": "application/json",
                "Accept-Encoding": "identity",
            },
            timeout=aiohttp.ClientTimeout(total=30.0, sock_connect=_CONNECT_S),
            proxy=_proxy(self.configuration),
            middlewares=(self._authorize,),
            trace_configs=list(traces),
            response_class=response_class or Response,
        )

    def lane(self) -> Lane | None:
        """A new one for writes, which carries no credentials of its own; None where a proxy stands in between."""
        if _proxy(self.configuration):
            return None
        return Lane(self.server, tls=self._tls, server_hostname=self.configuration.tls_server_name or "")

    def credentials(self) -> Credentials:
        """As they are at the moment; "" for a header where the client's certificate is all."""
        if self._clock() - self._refreshed_s >= _REFRESH_S:
            self._refresh_soon()
        return self._credentials

    async def _authorize(
        self, request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        if request.url.origin() != self._origin:
            # Where a redirect leads: kopf follows them.
            return await send(request)
        used = self._sign(request)
        response = await send(request)
        if response.status == 401 and await self.refused(used):
            # Not released: another request would show the same certificate.
            response.close()
            self._sign(request)
            response = await send(request)
        return response

    def _sign(self, request: aiohttp.ClientRequest) -> Credentials:
        credentials = self.credentials()
        if credentials.authorization:
            request.headers["Authorization"] = credentials.authorization
        if name := self.configuration.tls_server_name:
            request.server_hostname = name
        return credentials

    def _refresh_soon(self) -> None:
        """In the background: an exec plugin may take seconds, and the present token still holds."""
        self._refreshed_s = self._clock()
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._refresh(), name="credentials")

    async def _refresh(self) -> None:
        hook = self.configuration.refresh_api_key_hook
        if hook is None:
            return
        try:
            await asyncio.to_thread(hook, self.configuration)
        except Exception as error:  # noqa: BLE001 - whatever a plugin or a half-written file makes of it
            log.warning("credentials could not be refreshed, the present ones are kept: %s", error)
        else:
            fresh = _authorization(self.configuration)
            if fresh != self._credentials.authorization:
                self._credentials = self._credentials.followed_by(fresh)

    async def refused(self, used: Credentials) -> bool:
        """Reads everything anew after a 401 to these; True where it is worth to ask again."""
        async with self._reloading:
            if self._credentials.generation != used.generation:
                return True
            if self._clock() - self._reloaded_s < _RELOAD_AT_MOST_EVERY_S:
                return False
            self._reloaded_s = self._clock()
            try:
                await asyncio.to_thread(self._reload)
            except SettingsError as error:
                log.warning("credentials were refused, and cannot be read anew: %s", error)
                return False
            return True

    def _reload(self) -> None:
        fresh = self._access.load()
        if self._tls:
            # New handshakes of the sessions that exist take the certificate from the same context.
            _load_certificate(self._tls, fresh, self._access)
        self.configuration.api_key = fresh.api_key
        self.configuration.refresh_api_key_hook = fresh.refresh_api_key_hook
        # A certificate that was rotated does not show in the header.
        self._credentials = self._credentials.followed_by(_authorization(fresh))


class Response(aiohttp.ClientResponse):
    """kopf reads lists by this method; the standard library's decoder takes three times as long."""

    async def json(
        self,
        *,
        encoding: str | None = None,
        loads: Callable[[str], Any] = orjson.loads,
        content_type: str | None = "application/json",
    ) -> Any:
        return await self.heard(await super().json(encoding=encoding, loads=loads, content_type=content_type))

    async def heard(self, told: Any) -> Any:
        """What is made of the answer before whoever asked has it."""
        return told


def _authorization(configuration: Configuration) -> str:
    # A token file may end with a newline, which no header may contain.
    return str(configuration.api_key.get("BearerToken", "")).strip()


def _tls(configuration: Configuration, access: ClusterAccess) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
    except (OSError, ValueError) as error:
        raise SettingsError(f"{access}: its certificate authority cannot be used: {error}") from error
    # Python 3.13 refuses certificates without an authority key identifier; Go and kubectl take them.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not configuration.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    _load_certificate(context, configuration, access)
    return context


def _load_certificate(context: ssl.SSLContext, configuration: Configuration, access: ClusterAccess) -> None:
    if configuration.cert_file:
        try:
            context.load_cert_chain(configuration.cert_file, configuration.key_file)
        except (OSError, ValueError) as error:
            raise SettingsError(f"{access}: its client certificate cannot be used: {error}") from error


def _proxy(configuration: Configuration) -> str | None:
    """The kubeconfig's always counts; the environment's does unless NO_PROXY excepts the host."""
    from_environment = configuration.proxy in getproxies().values()
    excepted = from_environment and proxy_bypass(urlsplit(configuration.host).netloc)
    return None if excepted else configuration.proxy
