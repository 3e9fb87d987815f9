"""From what a cluster should look like to the commands that make it so."""

from collections.abc import Iterator

from devcluster import binaries, ports
from devcluster.component import Component, Plan
from devcluster.components.api_server import api_server
from devcluster.components.controller_manager import controller_manager
from devcluster.components.etcd import etcd
from devcluster.components.exporter import exporter
from devcluster.components.kube_scheduler import kube_scheduler
from devcluster.components.kwok import kwok
from devcluster.components.metrics_server import metrics_server
from devcluster.components.prometheus import prometheus
from devcluster.folder import ClusterFolder
from devcluster.kubeconfig import write_admin
from devcluster.pki import Pki
from devcluster.spec import ClusterSpec
from devcluster.state import ClusterState


def lay_out(spec: ClusterSpec, folder: ClusterFolder) -> ClusterState:
    """Fill an empty folder with all that the processes read; builds programs that are missing."""
    plan = Plan(
        spec=spec,
        folder=folder,
        pki=Pki(folder.pki),
        ports=ports.choose(),
        program=binaries.ensure,
    )
    plan.pki.write()
    write_admin(folder.kubeconfig, server=plan.server, pki=plan.pki)
    state = ClusterState(
        server=plan.server,
        components=tuple(_components(plan)),
        controllers=spec.controllers,
        audit=spec.audit,
        kubelet_port=plan.ports.kubelet,
        metrics_server_port=plan.ports.metrics_server,
    )
    state.save(folder)
    return state


def _components(plan: Plan) -> Iterator[Component]:
    yield etcd(plan)
    yield api_server(plan)
    if plan.spec.exporter:
        yield exporter(plan)
    if plan.spec.prometheus:
        yield prometheus(plan)
    if plan.spec.controllers:
        yield controller_manager(plan)
        yield kwok(plan)
    if plan.spec.kube_scheduler:
        yield kube_scheduler(plan)
    if plan.spec.metrics_server:
        yield metrics_server(plan)
