"""Run modules of this package as processes of their own."""

import os
import sys
from pathlib import Path

_PACKAGE_PARENT = Path(__file__).resolve().parent.parent


def module_command(module: str, *arguments: str) -> tuple[str, ...]:
    """The command that runs a module with this interpreter."""
    return (sys.executable, "-m", module, *arguments)


def module_environment() -> dict[str, str]:
    """The environment in which this package is importable whatever the current folder is."""
    inherited = os.environ.get("PYTHONPATH")
    path = os.pathsep.join(filter(None, (str(_PACKAGE_PARENT), inherited)))
    return {**os.environ, "PYTHONPATH": path}
