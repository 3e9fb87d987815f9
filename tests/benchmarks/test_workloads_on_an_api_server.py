"""The API server takes what the workloads are made of, and changes nothing in it that they rely on."""

from __future__ import annotations

import pytest

from benchmarks.throughput.workload import Thing
from benchmarks.throughput.workloads import WORKLOADS
from benchmarks.throughput.workloads.objects import HIGH, NODES, PRIORITY_CLASSES, high_priority
from devcluster.api import ApiClient, admin_context
from devcluster.cluster import DevCluster
from devcluster.folder import ClusterFolder
from devcluster.pki import Pki
from devcluster.spec import ClusterSpec

pytestmark = pytest.mark.cluster
_NODES, _PODS = 5, 10


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    directory = tmp_path_factory.mktemp("api-server")
    with DevCluster.start(ClusterSpec(controllers=False), directory=directory) as cluster:
        client = ApiClient(cluster.server, context=admin_context(Pki(ClusterFolder(directory).pki)))
        client.create(PRIORITY_CLASSES, high_priority().body)
        yield client


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS.keys())
def test_every_object_is_taken_as_it_is(api, workload):
    nodes = (Thing(NODES, workload.node(i)) for i in range(_NODES))
    for thing in (*nodes, *workload.before(_NODES), *workload.pods(_PODS, "ours", _NODES)):
        if thing.body["kind"] != "PriorityClass":
            taken = api.create(f"{thing.path}?dryRun=All", thing.body)
            assert not taken["spec"].get("taints")
            if thing.body["kind"] == "Pod":
                assert taken["spec"]["priority"] == (10 if thing.body["spec"].get("priorityClassName") == HIGH else 0)
                assert taken["metadata"].get("ownerReferences") == thing.body["metadata"].get("ownerReferences")
                assert taken["spec"].get("affinity") == thing.body["spec"].get("affinity")
