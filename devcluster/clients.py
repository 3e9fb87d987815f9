"""kubectl and helm against one cluster."""

import os
import subprocess
from collections.abc import Sequence

from devcluster import binaries
from devcluster.errors import CommandError
from devcluster.folder import ClusterFolder


def environment(folder: ClusterFolder) -> dict[str, str]:
    """The variables that make client programs use the cluster, and keep what they note in its folder.

    Their usual caches are per host and port, and know the API of an earlier cluster there.
    """
    notes = folder.data / "clients"
    return {
        **os.environ,
        "KUBECONFIG": str(folder.kubeconfig),
        "KUBECACHEDIR": str(notes / "kube"),
        "HELM_CACHE_HOME": str(notes / "helm-cache"),
        "HELM_CONFIG_HOME": str(notes / "helm-config"),
        "HELM_DATA_HOME": str(notes / "helm-data"),
    }


def run(
    name: str,
    arguments: Sequence[str],
    *,
    folder: ClusterFolder,
    stdin: str | None,
    error: type[CommandError] | None,
) -> str:
    """What the program writes to stdout.

    Raises:
        CommandError: it failed; of the kind given, and not at all where that is None.
    """
    finished = subprocess.run(
        [str(binaries.ensure(name)), *arguments],
        input=stdin or "",
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    if error is not None and finished.returncode != 0:
        raise error([name, *arguments], exit_code=finished.returncode, stderr=finished.stderr)
    return finished.stdout
