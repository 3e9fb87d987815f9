"""Serve the fake nodes' metrics: over HTTP to Prometheus, over HTTPS to metrics-server."""

import argparse
import asyncio
import signal
import ssl
from pathlib import Path

from aiohttp import web

from devcluster.exporter.fleet import Fleet
from devcluster.exporter.server import application

_HOST = "127.0.0.1"
# Scrapes are answered at once; there is nothing to wait for.
_SHUTDOWN_TIMEOUT_S = 1.0


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(prog="python -m devcluster.exporter", description=__doc__)
    parser.add_argument("--http-port", type=int, required=True)
    parser.add_argument("--https-port", type=int, required=True)
    parser.add_argument("--certificate", type=Path, required=True)
    parser.add_argument("--key", type=Path, required=True)
    parser.add_argument("--state", type=Path, required=True, help="file that keeps the nodes over a restart")
    asyncio.run(_serve(parser.parse_args()))


async def _serve(options: argparse.Namespace) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(options.certificate, options.key)
    app = application(Fleet.load(options.state), state=options.state, target=f"{_HOST}:{options.http_port}")
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=_SHUTDOWN_TIMEOUT_S)
    await runner.setup()
    await web.TCPSite(runner, _HOST, options.http_port).start()
    await web.TCPSite(runner, _HOST, options.https_port, ssl_context=tls).start()
    await stopped.wait()
    await runner.cleanup()


if __name__ == "__main__":
    main()
