"""What the operator makes of the flags that the chart gives it."""

from __future__ import annotations

from plimsoll.cli.run import run
from plimsoll.runtime.settings import Settings, make_settings
from tests.chart.chart import NAMESPACE, Rendered

# Flags in seconds; the fields say so in their names.
_SECONDS = {
    "lease_duration",
    "renew_deadline",
    "retry_period",
    "startup_timeout",
    "sweep_interval",
    "volume_bind_timeout",
}


def settings_of(rendered: Rendered) -> Settings:
    """The operator's own reading, with what the kubelet would fill in.

    Raises:
        click.UsageError: there is no such flag.
        SettingsError: a flag's value is not allowed.
    """
    command, *flags = (arg.replace("$(POD_NAMESPACE)", NAMESPACE) for arg in rendered.container["args"])
    assert command == run.name
    with run.make_context(command, flags) as context:
        given = {f"{key}_s" if key in _SECONDS else key: value for key, value in context.params.items()}
        return make_settings(**given)
