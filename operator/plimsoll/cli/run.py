"""``plimsoll run``: the scheduler itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import click


def _flag(name: str, **options: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A flag that is an environment variable as well."""
    variable = "PLIMSOLL_" + name.split("/", maxsplit=1)[0].removeprefix("--").replace("-", "_").upper()
    return click.option(name, envvar=variable, show_envvar=True, show_default=options["default"] != "", **options)


@click.command()
@_flag("--kubeconfig", default="", help="Kubeconfig; else KUBECONFIG, the pod's service account, ~/.kube/config.")
@_flag("--context", default="", help="Context of the kubeconfig; else its current one.")
@_flag("--scheduler-name", default="plimsoll", help="Pods name it in spec.schedulerName.")
@_flag("--namespace", default="", help="Where the Lease is; else the pod's own namespace, or default outside of pods.")
@_flag("--metrics-address", default="127.0.0.1:10260", help="Where probes and metrics are served; port 0 is any.")
@_flag("--log-format", type=click.Choice(["json", "text"]), default="json", help="How logs are written, to stderr.")
@_flag("--log-level", type=click.Choice(["debug", "info", "warning", "error"]), default="info", help="From which on.")
@_flag("--leader-elect/--no-leader-elect", default=True, help="Bind only while holding the Lease; several may run.")
@_flag("--lease-name", default="", help="Name of the Lease; else the scheduler's.")
@_flag("--lease-duration", type=float, default=15.0, help="Seconds that others wait after the last renewal.")
@_flag("--renew-deadline", type=float, default=10.0, help="Seconds that the holder goes on without a renewal.")
@_flag("--retry-period", type=float, default=2.0, help="Seconds between two tries to take or renew the Lease.")
@_flag("--startup-timeout", type=float, default=60.0, help="Seconds to wait for an API server that does not answer.")
@_flag("--bind-concurrency", type=int, default=48, help="Bindings under way at a time.")
@_flag("--events-per-second", type=float, default=5000.0, help="Most Events; they come after Bindings in any case.")
@_flag("--sweep-interval", type=float, default=60.0, help="Seconds between two LISTs that repair what watches lost.")
@_flag("--volume-bind-timeout", type=float, default=600.0, help="Seconds that a pod's volumes may take to be bound.")
def run(**flags: Any) -> None:
    """Run the scheduler until SIGTERM or SIGINT.

    Exits with 1 and one line that says what to do where the kubeconfig cannot be used, the API server cannot be
    reached within --startup-timeout, the CRD is not installed, a right is missing, or the address is taken. Once it
    has started it survives every outage of the API server.
    """
    from plimsoll.runtime.memory import spare_start

    spare_start()  # already the imports leave tens of thousands of objects that stay
    import uvloop

    from plimsoll.errors import SettingsError
    from plimsoll.kube.config import own_namespace
    from plimsoll.runtime import app, logs
    from plimsoll.runtime.settings import make_settings

    values = {_FIELDS.get(flag, flag): value for flag, value in flags.items()}
    values["namespace"] = values["namespace"] or own_namespace()
    try:
        settings = make_settings(**values)
        logs.configure(style=settings.log_format, level=settings.log_level)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(app.run(settings))
    except SettingsError as error:
        raise click.ClickException(str(error)) from error


# Flags whose unit is in their help, and fields whose unit is in their name.
_FIELDS = {
    flag: f"{flag}_s"
    for flag in (
        "lease_duration",
        "renew_deadline",
        "retry_period",
        "startup_timeout",
        "sweep_interval",
        "volume_bind_timeout",
    )
}
