"""The programs of the control plane, wherever they come from."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from devcluster import golang
from devcluster.building import built
from devcluster.tools import TOOLS, Tool
from devcluster.versions import parse

# envtest's variable for a folder with etcd, kube-apiserver and kubectl.
_ASSETS_VARIABLE = "KUBEBUILDER_ASSETS"


@cache
def ensure(name: str) -> Path:
    """The program of that name: envtest's, one of a fitting version on the PATH, or built now.

    Raises:
        KeyError: no such program is known.
        ToolchainError: it has to be built and there is no Go.
        BuildError: it does not compile.
    """
    tool = TOOLS[name]
    return find_installed(tool) or built(tool, go=golang.find())


def find_installed(tool: Tool) -> Path | None:
    """An installed program whose version fits."""
    folders = (os.environ.get(_ASSETS_VARIABLE), os.environ.get("PATH"))
    found = (shutil.which(tool.name, path=folder) for folder in folders if folder)
    return next((Path(path) for path in found if path and _fits(tool, path)), None)


def _fits(tool: Tool, program: str) -> bool:
    try:
        answer = subprocess.run(
            [program, *tool.version_command], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return False
    # node-exporter of some distributions answers on stderr.
    return tool.fitting.fits(parse(answer.stdout or answer.stderr))
