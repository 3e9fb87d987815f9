"""The scene on the local control plane: fake nodes, a scripted exporter, a real Prometheus, the running operator."""

from __future__ import annotations

import json
import re
import time
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.quality.live_check import manifests
from benchmarks.quality.live_check.errors import LiveCheckError
from benchmarks.quality.live_check.feed import Feed, Pods, node_load
from benchmarks.quality.live_check.placements import Placements
from benchmarks.quality.live_check.scene import NIC_BYTES_S, Machine, Scene
from demo import operator
from devcluster import ClusterSpec, DevCluster, NodeSpec
from devcluster import Load as NodeLoad

Json = dict[str, Any]

_LOOKS = re.compile(r'^plimsoll_pod_use_looks_total\{result="answered",source="Prometheus"\} (\S+)$', re.MULTILINE)
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_BOUND_WITHIN_S = 30.0


class Measured(NamedTuple):
    """How the control plane kept to the script, in seconds.

    Attributes:
        late_s: the most by which a rollout was applied late.
        ready_s: from a pod's Binding to its start, in the mean.
        looks: how often the operator learned what pods use.
    """

    late_s: float
    ready_s: float
    looks: int


@dataclass(frozen=True, slots=True)
class Live:
    """One play."""

    placements: Placements
    measured: Measured


def play(scene: Scene, *, directory: Path, say: Callable[[str], None]) -> Live:
    """Starts a cluster, plays the scene and ends the cluster.

    Raises:
        LiveCheckError: the policy was not in force, or not every pod was bound.
        DevClusterError: the control plane failed.
    """
    say("starting the control plane, Prometheus and the operator")
    with _cluster(scene, directory) as (cluster, url):
        _apply(cluster, scene.policy(prometheus_url=str(cluster.prometheus_url)))
        began_s = time.time()
        say(f"playing {scene.pods} pods in {scene.end_s:.0f} s")
        assert cluster.exporter is not None
        pods = Pods(cluster.kubeconfig)
        with Feed(scene, pods, cluster.exporter):
            late_s = _roll_out(scene, cluster, began_s)
            found = _all_bound(scene, pods)
        _require_in_force(cluster)
        return Live(_placements(scene, found), _measured(found, late_s=late_s, url=url))


@contextmanager
def _cluster(scene: Scene, directory: Path) -> Iterator[tuple[DevCluster, str]]:
    """With the operator's URL."""
    nodes = [_node(machine) for machine in scene.machines]
    spec = ClusterSpec(nodes=nodes, prometheus=True, scrape_interval_s=scene.scrape_s)
    with DevCluster.start(spec, directory=directory) as cluster:
        operator.install(cluster)
        yield cluster, operator.start(cluster)


def _node(machine: Machine) -> NodeSpec:
    """Without a zone, as the simulator's nodes are."""
    load: NodeLoad = {**node_load(machine, ()), "speed_bytes": {"eth0": NIC_BYTES_S}}
    return NodeSpec(name=machine.name, cpu=str(machine.cores), memory=str(int(machine.mem_bytes)), zone="", load=load)


def _roll_out(scene: Scene, cluster: DevCluster, began_s: float) -> float:
    """By how much the latest was late, in seconds."""
    before: Counter[str] = Counter()
    late_s = []
    for rollout in scene.rollouts:
        late_s.append(_wait_until(began_s + rollout.at_s))
        _apply(cluster, manifests.of(scene.app(rollout.app), rollout.pods, before=before[rollout.app]))
        before[rollout.app] += rollout.pods
    return max(late_s)


def _wait_until(at_s: float) -> float:
    """Returns at a moment, or at once where it has passed; by how much, in seconds."""
    time.sleep(max(0.0, at_s - time.time()))
    return time.time() - at_s


def _apply(cluster: DevCluster, manifest: object) -> None:
    cluster.kubectl("apply", "--server-side", "--filename", "-", input=json.dumps(manifest))


def _all_bound(scene: Scene, pods: Pods) -> list[Json]:
    """All pods, those of finished Jobs as well, once each of them has a node and runs."""
    deadline_s = time.monotonic() + _BOUND_WITHIN_S
    while True:
        found = pods.all()
        if len(found) == scene.pods and all("startTime" in pod["status"] for pod in found):
            return found
        if time.monotonic() > deadline_s:
            bound = sum("nodeName" in pod["spec"] for pod in found)
            raise LiveCheckError(f"{bound} of {scene.pods} pods were bound in time")
        time.sleep(0.5)


def _require_in_force(cluster: DevCluster) -> None:
    listed = json.loads(cluster.kubectl("get", "schedulingpolicies", "--output", "json"))["items"]
    for condition in (c for policy in listed for c in policy.get("status", {}).get("conditions", ())):
        if condition["type"] in ("Ready", "MetricsAvailable") and condition["status"] != "True":
            raise LiveCheckError(f"the policy is not in force: {condition['type']}: {condition['message']}")


def _placements(scene: Scene, pods: list[Json]) -> Placements:
    return Placements.of(scene, ((rollout, pod["spec"]["nodeName"]) for rollout, pod in _by_rollout(scene, pods)))


def _by_rollout(scene: Scene, pods: list[Json]) -> Iterator[tuple[int, Json]]:
    """Of an app's pods the first belong to its first rollout: they are created seconds apart."""
    of_app: dict[str, list[Json]] = defaultdict(list)
    for pod in sorted(pods, key=_created_s):
        of_app[pod["metadata"]["labels"]["app"]].append(pod)
    for i, rollout in enumerate(scene.rollouts):
        mine, of_app[rollout.app] = of_app[rollout.app][: rollout.pods], of_app[rollout.app][rollout.pods :]
        yield from ((i, pod) for pod in mine)


def _measured(pods: list[Json], *, late_s: float, url: str) -> Measured:
    """Kubernetes' times are whole seconds, cut off: single differences are wrong by up to one, their mean is not."""
    ready_s = [_seconds(pod["status"]["startTime"]) - _scheduled_s(pod) for pod in pods]
    with _OPENER.open(f"{url}/metrics", timeout=10) as answer:
        looks = _LOOKS.search(answer.read().decode())
    if looks is None:
        raise LiveCheckError("the operator never learned what pods use")
    return Measured(late_s, fmean(ready_s), int(float(looks[1])))


def _created_s(pod: Json) -> float:
    return _seconds(pod["metadata"]["creationTimestamp"])


def _scheduled_s(pod: Json) -> float:
    return next(_seconds(c["lastTransitionTime"]) for c in pod["status"]["conditions"] if c["type"] == "PodScheduled")


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
