"""What a case is made of: the workload's objects, and what the harness adds to them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import yaml

from benchmarks.throughput.case import Case
from benchmarks.throughput.contenders import NAMESPACE
from benchmarks.throughput.workload import Json, Thing
from benchmarks.throughput.workloads import WORKLOADS

_CRDS = Path(__file__).resolve().parent.parent.parent / "crds"
_CRD_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
POLICIES = "/apis/plimsoll.dev/v1alpha1/schedulingpolicies"
# Who has put pods on nodes before: neither of those that are compared.
_EARLIER = "earlier"


def installation() -> Iterator[Thing]:
    """What an installation of Plimsoll adds to a cluster, beside kube-scheduler as well: it costs both the same."""
    yield Thing("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    for path in sorted(_CRDS.glob("*.yaml")):
        yield Thing(_CRD_PATH, yaml.safe_load(path.read_text(encoding="utf-8")))


def there(case: Case) -> Iterator[Thing]:
    """Nodes, and what is there before any measured pod."""
    workload = WORKLOADS[case.workload]
    yield from (Thing("/api/v1/nodes", workload.node(number)) for number in range(case.nodes))
    yield from workload.before(case.nodes)
    yield from _assigned(case)


def measured(case: Case, scheduler: str) -> tuple[list[Thing], list[Thing]]:
    """Pods that warm the scheduler up, and those that count."""
    workload = WORKLOADS[case.workload]
    pods = workload.pods(case.warm + case.pods, scheduler, case.nodes)
    return list(itertools.islice(pods, case.warm)), list(pods)


def _assigned(case: Case) -> Iterator[Thing]:
    workload = WORKLOADS[case.workload]
    names = [workload.node(number)["metadata"]["name"] for number in range(case.nodes)]
    for i, pod in enumerate(workload.pods(case.assigned, _EARLIER, case.nodes)):
        yield Thing(pod.path, _on_node(pod.body, name=f"{_EARLIER}-{i}", node=names[i % len(names)]))


def _on_node(pod: Json, *, name: str, node: str) -> Json:
    metadata, spec = {**pod["metadata"], "name": name}, {**pod["spec"], "nodeName": node}
    return {**pod, "metadata": metadata, "spec": spec}
