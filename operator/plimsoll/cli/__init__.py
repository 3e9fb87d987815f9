"""The command line: ``plimsoll run``, ``explain``, ``simulate`` and ``crds``.

kubectl finds it as ``kubectl plimsoll``.
"""

from __future__ import annotations

import importlib

import click

from plimsoll import __version__

# Command to module: imported when asked for, so that `plimsoll --help` does not load numpy, kopf and kubernetes.
_COMMANDS = {"run": "run", "explain": "explain", "crds": "crds", "simulate": "simulate"}


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"plimsoll.cli.{_COMMANDS[cmd_name]}"), cmd_name)
        return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="plimsoll")
def main() -> None:
    """Place pods by what the nodes carry now."""
