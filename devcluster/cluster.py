"""One local cluster, from start to stop."""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from devcluster import clients, health
from devcluster.api import ApiClient, admin_context
from devcluster.component import Component
from devcluster.components import metrics_server
from devcluster.errors import (
    ApiError,
    ClusterRunningError,
    HelmError,
    KubectlError,
    NotReadyError,
    with_log,
)
from devcluster.exporter.client import ExporterClient
from devcluster.folder import ClusterFolder
from devcluster.kubeconfig import write_token
from devcluster.nodes import first_load, is_ready, manifest
from devcluster.pki import Pki
from devcluster.planning import lay_out
from devcluster.processes import Processes
from devcluster.spec import ClusterSpec, NodeSpec
from devcluster.state import ClusterState
from devcluster.watchdog import Watchdog

_START_TIMEOUT_S = 60.0
# The whole cluster is thrown away: nothing that would need longer is worth waiting for.
_STOP_GRACE_S = 2.0
# A single process is to come back with its data, so it may close its files.
_RESTART_GRACE_S = 5.0
_NODES_TIMEOUT_S = 60.0
_TIMEOUT_PER_NODE_S = 0.03
_METRICS_TIMEOUT_S = 60.0
# All that follow need them.
_FOUNDATIONS = {"etcd", "kube-apiserver"}
_TOKEN_LIFETIME = "--duration=8h"  # noqa: S105 - a flag


class DevCluster:
    """A control plane on loopback, with fake nodes.

    Its processes end with `stop`, at the end of a `with` block, and when the owner dies.
    """

    def __init__(self, folder: ClusterFolder, state: ClusterState, watchdog: Watchdog | None) -> None:
        self._folder = folder
        self._state = state
        self._watchdog = watchdog
        self._processes = Processes(folder)
        self._context = admin_context(Pki(folder.pki))
        self._api = ApiClient(state.server, context=self._context)

    @classmethod
    def start(cls, spec: ClusterSpec, *, directory: Path) -> Self:
        """Start a cluster in a folder; returns when the API answers and all nodes are ready.

        Raises:
            ClusterRunningError: one runs there already.
            BuildError: a program that was missing does not compile.
            ProcessError: a process died; names its log.
            NotReadyError: something did not get ready in time.
        """
        folder = ClusterFolder(Path(directory).resolve())
        if Processes(folder).any_alive():
            raise ClusterRunningError(
                f"a cluster runs in {folder.root}; end it with `python -m devcluster down --dir {folder.root}` first"
            )
        folder.prepare()
        state = lay_out(spec, folder)
        cluster = cls(folder, state, Watchdog.start(folder.records))
        try:
            cluster._bring_up(spec)
        except BaseException:
            cluster.stop()
            raise
        return cluster

    @classmethod
    def attach(cls, directory: Path) -> Self:
        """Use a cluster that someone else started, and that lives on afterwards.

        Raises:
            ClusterMissingError: there is none in the folder.
        """
        folder = ClusterFolder(Path(directory).resolve())
        return cls(folder, ClusterState.load(folder), watchdog=None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def directory(self) -> Path:
        """The folder of the cluster; `logs` in it outlives the cluster."""
        return self._folder.root

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self._folder.kubeconfig

    @property
    def server(self) -> str:
        """The API server's URL."""
        return self._state.server

    @property
    def ca_file(self) -> Path:
        """The certificate that proves the API server."""
        return Pki(self._folder.pki).ca

    @property
    def prometheus_url(self) -> str | None:
        """Prometheus, if the cluster has it."""
        return self._state.url("prometheus")

    @property
    def exporter(self) -> ExporterClient | None:
        """What sets the nodes' load, if the cluster has Prometheus or metrics-server."""
        url = self._state.url("exporter")
        return ExporterClient(url) if url else None

    @property
    def audit_log(self) -> Path | None:
        """Every request at the API server as JSON lines, if asked for."""
        return self._folder.audit_log if self._state.audit else None

    @property
    def components(self) -> Sequence[Component]:
        """What the cluster is made of, in the order in which it was started."""
        return self._state.components

    def kubectl(
        self,
        *arguments: str,
        input: str | None = None,  # noqa: A002 - as in subprocess.run
        check: bool = True,
    ) -> str:
        """Run kubectl as the administrator; what it writes to stdout.

        Raises:
            KubectlError: it failed, unless `check` is False.
        """
        error = KubectlError if check else None
        return clients.run("kubectl", arguments, folder=self._folder, stdin=input, error=error)

    def helm(self, *arguments: str) -> str:
        """Run helm as the administrator; what it writes to stdout.

        Raises:
            HelmError: it failed.
        """
        return clients.run("helm", arguments, folder=self._folder, stdin=None, error=HelmError)

    def service_account_kubeconfig(self, namespace: str, name: str, path: Path) -> Path:
        """Write a kubeconfig that signs in as a ServiceAccount; returns its path."""
        token = self.kubectl("create", "token", name, f"--namespace={namespace}", _TOKEN_LIFETIME).strip()
        write_token(path, server=self.server, ca=self.ca_file, user_name=name, token=token)
        return path

    def add_nodes(self, nodes: Sequence[NodeSpec]) -> None:
        """Create nodes; does not wait until they are ready."""
        if self.exporter is not None:
            self.exporter.add({node.name: first_load(node) for node in nodes})
        static_port = None if self._state.controllers else self._state.kubelet_port
        self._api.create_many("/api/v1/nodes", [manifest(node, static_port=static_port) for node in nodes])

    def wait_nodes_ready(self, timeout_s: float = _NODES_TIMEOUT_S) -> None:
        """Wait until pods can be bound to all nodes.

        Raises:
            NotReadyError: not in time.
        """
        health.wait_until(self._nodes_ready, timeout_s=timeout_s, what="not all nodes got ready")

    def stop_process(self, name: str) -> None:
        """End one process, e.g. `prometheus`, as a failure would; its data stay.

        Raises:
            KeyError: the cluster has none of that name.
        """
        self._processes.stop(self._state.component(name).name, grace_s=_RESTART_GRACE_S)

    def start_process(self, name: str) -> None:
        """Start a process that was stopped, on the same ports and data; returns when it works.

        Raises:
            KeyError: the cluster has none of that name.
            ProcessError: it runs, or died again.
            NotReadyError: it does not work in time.
        """
        component = self._state.component(name)
        self._processes.start(component)
        self._wait_until_works(component)

    def run_beside(self, name: str, command: Sequence[str], *, url: str, health_url: str) -> None:
        """Run a program of the caller's as one more process of the cluster; returns when it works.

        It shows in `status` and ends with the cluster, also when the owner dies.

        Raises:
            ProcessError: it runs, or died.
            NotReadyError: `health_url` does not answer 200 in time.
        """
        component = Component(name, tuple(command), url=url, health_url=health_url)
        self._state = self._state.with_component(component)
        self._state.save(self._folder)
        self._processes.start(component)
        self._wait_until_works(component)

    def pid(self, name: str) -> int | None:
        """The pid of a process; None if it does not run."""
        return self._processes.pid(name)

    def is_healthy(self, name: str) -> bool:
        """Whether a process runs and says that it works."""
        health_url = self._state.component(name).health_url
        return self.pid(name) is not None and health.answers(health_url, context=self._context)

    def release(self) -> None:
        """Let the processes outlive this one, until someone ends them with `down`."""
        if self._watchdog is not None:
            self._watchdog.release()
        self._watchdog = None
        self._processes.release()

    def stop(self) -> None:
        """End all processes and remove the data, but not the logs. Does nothing the second time."""
        self._processes.stop_all(grace_s=_STOP_GRACE_S)
        if self._watchdog is not None:
            self._watchdog.close()
        self._watchdog = None
        self._folder.clear()

    def _bring_up(self, spec: ClusterSpec) -> None:
        early = [each for each in self._state.components if each.name != metrics_server.NAME]
        for component in early:
            self._processes.start(component)
            if component.name in _FOUNDATIONS:
                self._wait_until_works(component)
        for component in early:
            self._wait_until_works(component)
        if spec.controllers:
            self._wait_for_default_service_account()
        self.add_nodes(spec.nodes)
        self.wait_nodes_ready(_NODES_TIMEOUT_S + _TIMEOUT_PER_NODE_S * len(spec.nodes))
        if spec.metrics_server:
            self._bring_up_metrics_server(node_count=len(spec.nodes))

    def _wait_until_works(self, component: Component) -> None:
        def works() -> bool:
            self._processes.require_alive(component.name)
            return self.is_healthy(component.name)

        sentence = f"{component.name} did not get ready"
        try:
            health.wait_until(works, timeout_s=_START_TIMEOUT_S, what=sentence)
        except NotReadyError as error:
            raise NotReadyError(with_log(str(error), self._folder.log(component.name))) from error

    def _wait_for_default_service_account(self) -> None:
        # Pods are refused in a namespace without it, and a controller makes it a moment later.
        health.wait_until(
            lambda: self._exists("/api/v1/namespaces/default/serviceaccounts/default"),
            timeout_s=_START_TIMEOUT_S,
            what="the namespace default got no ServiceAccount",
        )

    def _exists(self, path: str) -> bool:
        try:
            self._api.get(path)
        except ApiError:
            return False
        return True

    def _nodes_ready(self) -> bool:
        return all(is_ready(node) for node in self._items("/api/v1/nodes"))

    def _items(self, path: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self._api.get(path)["items"]
        return items

    def _bring_up_metrics_server(self, *, node_count: int) -> None:
        # Only now, since it needs two scrapes of a node and makes its first when it starts.
        self.start_process(metrics_server.NAME)
        self._api.create("/api/v1/namespaces/kube-system/services", metrics_server.service())
        self._api.create(
            "/apis/apiregistration.k8s.io/v1/apiservices",
            metrics_server.api_service(self._state.metrics_server_port),
        )
        self._wait_for_node_metrics(count=node_count)

    def _wait_for_node_metrics(self, *, count: int) -> None:
        def all_measured() -> bool:
            try:
                return len(self._items(f"/apis/{metrics_server.GROUP_VERSION}/nodes")) >= count
            except ApiError:
                return False  # the API server has not seen it answer yet

        health.wait_until(all_measured, timeout_s=_METRICS_TIMEOUT_S, what="metrics-server did not know all nodes")


def tear_down(directory: Path) -> None:
    """End whatever of a cluster is left in a folder; does nothing where there is none."""
    folder = ClusterFolder(directory.resolve())
    Processes(folder).stop_all(grace_s=_STOP_GRACE_S)
    folder.clear()
