"""Small random clusters in which volumes get in each other's way."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from plimsoll.cluster.cache import Cache
from plimsoll.cluster.kinds import KINDS
from plimsoll.cluster.pod import Uid
from tests.builders import PodBuilder, make_node, make_pod
from tests.volume_objects import a_claim, a_class, a_volume, put

Json = dict[str, Any]

NODES, NAMES, CLASSES = ("n1", "n2"), ("a", "b", "c"), ("x", "y")
DRIVERS = ("d1", "d2", "ebs.csi.aws.com")
_EBS = "kubernetes.io/aws-ebs"

_names, _nodes = st.sampled_from(NAMES), st.sampled_from(NODES)
_read_only = st.booleans()


def _csi(driver: str, handle: str) -> Json:
    return {"csi": {"driver": driver, "volumeHandle": handle}}


_sources: st.SearchStrategy[Json] = st.one_of(
    st.builds(_csi, st.sampled_from(DRIVERS), st.sampled_from(("h1", "h2", ""))),
    st.sampled_from([{"awsElasticBlockStore": {"volumeID": v}} for v in ("h1", "aws://z/vol-1")]),
    st.just({"nfs": {}}),
)
_volumes = st.builds(
    lambda name, of, source: a_volume(name, of_class=of, **source), _names, st.sampled_from(CLASSES), _sources
)
_claims = st.builds(
    lambda name, namespace, of, volume, mode: a_claim(
        name, namespace=namespace, of_class=of, volume=volume, bound=bool(volume), accessModes=[mode]
    ),
    _names,
    st.sampled_from(("default", "default", "other")),
    st.sampled_from((*CLASSES, "")),
    st.sampled_from((*NAMES, "")),
    st.sampled_from(("ReadWriteOncePod", "ReadWriteOnce")),
)
_classes = st.builds(
    lambda name, provisioner: a_class(name, provisioner=provisioner),
    st.sampled_from(CLASSES),
    st.sampled_from(("d1", "d2", _EBS, "")),
)
_counts = st.dictionaries(st.sampled_from(DRIVERS), st.integers(0, 3) | st.none())
_csi_nodes = st.builds(
    lambda name, counts: {
        "kind": "CSINode",
        "metadata": {"name": name},
        "spec": {
            "drivers": [{"name": d} | ({} if n is None else {"allocatable": {"count": n}}) for d, n in counts.items()]
        },
    },
    _nodes,
    _counts,
)
_attachments = st.builds(
    lambda name, attacher, node, volume: {
        "kind": "VolumeAttachment",
        "metadata": {"name": name},
        "spec": {"attacher": attacher, "nodeName": node, "source": {"persistentVolumeName": volume}},
    },
    _names,
    st.sampled_from(("d1", "d2", "")),
    _nodes,
    _names,
)


def crowded() -> list[Json]:
    """A bound claim for each name, which one pod alone may use, and nodes with room for two volumes of each driver."""
    drivers = [{"name": driver, "allocatable": {"count": 2}} for driver in DRIVERS]
    return [
        *(a_claim(name, volume=name, bound=True, accessModes=["ReadWriteOncePod"]) for name in NAMES),
        *(a_volume(name, csi={"driver": "d1", "volumeHandle": f"handle-{name}"}) for name in NAMES),
        *({"kind": "CSINode", "metadata": {"name": name}, "spec": {"drivers": drivers}} for name in NODES),
    ]


objects = st.one_of(_volumes, _claims, _claims, _classes, _csi_nodes, _attachments)

_mounts = st.one_of(
    st.builds(lambda name: {"persistentVolumeClaim": {"claimName": name}}, _names),
    st.builds(lambda name: {"persistentVolumeClaim": {"claimName": name}}, _names),
    st.just({"ephemeral": {}}),
    st.builds(lambda name, ro: {"gcePersistentDisk": {"pdName": name, "readOnly": ro}}, _names, _read_only),
    st.sampled_from([{"awsElasticBlockStore": {"volumeID": v}} for v in ("h1", "vol-1")]),
    st.builds(
        lambda monitors, ro: {"rbd": {"monitors": sorted(monitors), "pool": "p", "image": "i", "readOnly": ro}},
        st.sets(_names),
        _read_only,
    ),
)


def _pod(name: str, namespace: str, mounts: list[Json]) -> PodBuilder:
    return make_pod(name, namespace).spec(volumes=[{"name": f"v{i}", **mount} for i, mount in enumerate(mounts)])


def pods(*names: str) -> st.SearchStrategy[PodBuilder]:
    namespaces = st.sampled_from(("default", "default", "default", "other"))
    return st.builds(_pod, st.sampled_from(names), namespaces, st.lists(_mounts, max_size=3))


_placed = st.builds(lambda pod, node: pod.on(node), pods("p1", "p2", "p3", "p4"), _nodes)
# One of: an object that comes or changes, an object or node that goes, a node that comes, a pod that comes or goes.
steps = st.one_of(
    objects.map(lambda thing: ("put", thing)),
    objects.map(lambda thing: ("drop", thing)),
    _placed.map(lambda pod: ("pod", pod)),
    _placed.map(lambda pod: ("pod", pod)),
    _placed.map(lambda pod: ("pod goes", pod)),
    _nodes.map(lambda name: ("node", name)),
    _nodes.map(lambda name: ("node goes", name)),
)


class World:
    """A cache that lives through the steps, and what is left of them."""

    def __init__(self) -> None:
        self.cache = Cache()
        self.objects: dict[tuple[str, str], Json] = {}
        self.pods: dict[Uid, PodBuilder] = {}
        self.nodes: set[str] = set()

    def take(self, step: str, what: Any) -> None:
        match step:
            case "put":
                put(self.cache, what)
                self.objects[_key(what)] = what
            case "drop":
                self.cache.drop_object(KINDS[what["kind"]], _key(what)[1])
                self.objects.pop(_key(what), None)
            case "pod":
                self.cache.put_pod(what.info())
                self.pods[what.info().uid] = what
            case "pod goes":
                self.cache.drop_pod(what.info().uid)
                self.pods.pop(what.info().uid, None)
            case "node":
                self.cache.put_node(make_node(what).info())
                self.nodes.add(what)
            case "node goes":
                self.cache.drop_node(what)
                self.nodes.discard(what)

    def from_scratch(self) -> Cache:
        cache = Cache()
        for pod in self.pods.values():
            cache.put_pod(pod.info())
        put(cache, *reversed(self.objects.values()))
        for name in sorted(self.nodes):
            cache.put_node(make_node(name).info())
        return cache


def _key(thing: Json) -> tuple[str, str]:
    return thing["kind"], KINDS[thing["kind"]].parse(thing).key
