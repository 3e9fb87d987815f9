"""The committed Go module that pins every program of the control plane."""

import re
from pathlib import Path

from devcluster.versions import Version, parse

MODULE_FOLDER = Path(__file__).parent / "tools" / "k8s"


def module_files(folder: Path = MODULE_FOLDER) -> tuple[Path, Path]:
    """`go.mod` and `go.sum`."""
    return folder / "go.mod", folder / "go.sum"


def pinned_version(module: str, folder: Path = MODULE_FOLDER) -> str:
    """The version that go.mod requires of a module, e.g. `v1.36.4`."""
    found = re.search(rf"^(?:\s*|require ){re.escape(module)} (v\S+)", (folder / "go.mod").read_text(), re.MULTILINE)
    if found is None:
        raise LookupError(f"go.mod does not require {module}")
    return found[1]


def needed_go(folder: Path = MODULE_FOLDER) -> Version:
    """The oldest Go that can build the module."""
    found = re.search(r"^go (\S+)", (folder / "go.mod").read_text(), re.MULTILINE)
    version = parse(found[1]) if found else None
    if version is None:
        raise LookupError("go.mod does not say which Go it needs")
    return version
