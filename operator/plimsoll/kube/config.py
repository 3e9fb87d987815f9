"""Where the API server is and who we are: by the official client, from a kubeconfig or the service account.

The order is controller-runtime's: the given file, the environment's ``KUBECONFIG``, the pod's service
account, ``~/.kube/config``.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml
from kubernetes.client import Configuration
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.incluster_config import InClusterConfigLoader
from kubernetes.config.kube_config import load_kube_config

from plimsoll.errors import SettingsError

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_DEFAULT_KUBECONFIG = "~/.kube/config"
# Whatever a broken file can make the client stumble over; it checks little of what it reads.
_STUMBLES = (ConfigException, yaml.YAMLError, OSError, AttributeError, KeyError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """Where credentials come from.

    Attributes:
        kubeconfig: one path, or several joined as in ``KUBECONFIG``; "" is the pod's service account.
        context: of the kubeconfig; "" is its current context.
    """

    kubeconfig: str = ""
    context: str = ""
    account: Path = SERVICE_ACCOUNT

    def __str__(self) -> str:
        if not self.kubeconfig:
            return "the pod's service account"
        return f"kubeconfig {self.kubeconfig}" + (f" (context {self.context})" if self.context else "")

    def load(self) -> Configuration:
        """The client's configuration, read anew at each call; may run an exec plugin and block.

        Raises:
            SettingsError: says what cannot be used, and what to do.
        """
        return self._from_kubeconfig() if self.kubeconfig else self._from_account()

    def _from_kubeconfig(self) -> Configuration:
        for path in _paths(self.kubeconfig):
            if not path.is_file():
                raise SettingsError(f"kubeconfig {path} does not exist: name an existing file with --kubeconfig")
        configuration = Configuration()
        with _complaints() as complaints:
            try:
                load_kube_config(  # type: ignore[no-untyped-call]
                    config_file=self.kubeconfig,
                    context=self.context or None,
                    client_configuration=configuration,
                    persist_config=False,
                )
            except _STUMBLES as error:
                raise SettingsError(self._cannot_be_used(error)) from error
        if complaints:
            raise SettingsError(f"{self}: its credential plugin failed: {_one_line('; '.join(complaints))}")
        return configuration

    def _cannot_be_used(self, error: Exception) -> str:
        problem = _one_line(str(error) or type(error).__name__)
        if self.context and f"name {self.context} in" in problem:
            return f"kubeconfig {self.kubeconfig} has no context {self.context!r}: name another with --context"
        check = f"kubectl --kubeconfig {self.kubeconfig} version"
        return f"{self} cannot be used: {problem}: check it with `{check}`"

    def _from_account(self) -> Configuration:
        loader = InClusterConfigLoader(  # type: ignore[no-untyped-call]
            str(self.account / "token"), str(self.account / "ca.crt")
        )
        configuration = Configuration()
        try:
            loader.load_and_set(configuration)  # type: ignore[no-untyped-call]
        except _STUMBLES as error:
            raise SettingsError(
                f"no kubeconfig, and no service account instead ({_one_line(str(error))}): name a file with "
                "--kubeconfig or KUBECONFIG, or run in a pod that mounts its service account's token"
            ) from error
        return configuration


def find_access(*, kubeconfig: str, context: str, environ: Mapping[str, str] = os.environ) -> ClusterAccess:
    """The first of the places that is there; the service account where none is."""
    if named := kubeconfig or environ.get("KUBECONFIG", ""):
        return ClusterAccess(kubeconfig=named, context=context)
    default = Path(_DEFAULT_KUBECONFIG).expanduser()
    in_pod = bool(environ.get("KUBERNETES_SERVICE_HOST")) and (SERVICE_ACCOUNT / "token").exists()
    if default.is_file() and not in_pod:
        return ClusterAccess(kubeconfig=str(default), context=context)
    return ClusterAccess()


def own_namespace(*, account: Path = SERVICE_ACCOUNT) -> str:
    """The namespace of the pod that this process runs in; ``default`` outside of pods."""
    try:
        return (account / "namespace").read_text().strip() or "default"
    except OSError:
        return "default"


def _paths(kubeconfig: str) -> list[Path]:
    return [Path(part).expanduser() for part in kubeconfig.split(os.pathsep) if part]


@contextmanager
def _complaints() -> Iterator[list[str]]:
    """What the client says about plugins: it tells the root logger and goes on without credentials."""
    heard: list[str] = []

    def hear(record: logging.LogRecord) -> bool:
        heard.append(record.getMessage())
        return False

    root = logging.getLogger()
    # The client's module-level logging call would set up the root logger where nobody has so far.
    silent = None if root.handlers else logging.NullHandler()
    if silent:
        root.addHandler(silent)
    root.addFilter(hear)
    try:
        yield heard
    finally:
        root.removeFilter(hear)
        if silent:
            root.removeHandler(silent)


def _one_line(text: str) -> str:
    return " ".join(text.split())
