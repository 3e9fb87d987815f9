"""What a pod without constraints pays for the constraints of others.

Times one decision for such a pod over an empty cluster and over one that is full of pods with anti-affinity, turn by
turn, and prints the ratio of the medians, with warm caches (a pod like the one before) and with cold ones (a pod
like none before: another namespace, other labels, another toleration).

    .venv/bin/python -m benchmarks.plain_pod [--nodes 5000] [--pods 50000] [--decisions 300]
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from plimsoll.cluster.node import NodeInfo
from plimsoll.cluster.pod import PodInfo
from plimsoll.scheduling.decision import Bind
from plimsoll.scheduling.scheduler import Scheduler

_NOW_S = 1_800_000_000.0
_PODS_PER_GROUP = 50
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def main() -> None:
    options = _options()
    clusters = {"empty": cluster(options.nodes, []), "full": cluster(options.nodes, assigned(options))}
    result: dict[str, Any] = vars(options) | {"unit": "microseconds, median"}
    for name, pods in (("warm", warm()), ("cold", cold())):
        times: dict[str, list[float]] = {kind: [] for kind in clusters}
        for pod in itertools.islice(pods, options.decisions):
            for kind, scheduler in clusters.items():
                times[kind].append(decision_s(scheduler, pod))
        medians = {kind: round(1e6 * statistics.median(taken), 1) for kind, taken in times.items()}
        result[name] = medians | {"ratio": round(medians["full"] / medians["empty"], 2)}
    print(json.dumps(result, indent=2))


def cluster(nodes: int, pods: Iterator[PodInfo] | list[PodInfo]) -> Scheduler:
    scheduler = Scheduler(scheduler_name="plimsoll", rng=np.random.default_rng(1))
    for i in range(nodes):
        scheduler.node_seen(_node(i), now_s=_NOW_S)
    for pod in pods:
        scheduler.pod_assigned(pod, now_s=_NOW_S)
    return scheduler


def assigned(options: argparse.Namespace) -> Iterator[PodInfo]:
    """Every second one keeps others of its group off its node."""
    for i in range(options.pods):
        app = f"app-{i // _PODS_PER_GROUP}"
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": app}}}
        affinity = {"podAntiAffinity": {_REQUIRED: [term]}} if i % 2 else None
        yield _pod(f"there-{i}", labels={"app": app}, nodeName=f"node-{i % options.nodes}", affinity=affinity)


def warm() -> Iterator[PodInfo]:
    return (_pod(f"warm-{i}", labels={"app": "plain"}) for i in itertools.count())


def cold() -> Iterator[PodInfo]:
    for i in itertools.count():
        tolerations = [{"key": f"k{i}", "operator": "Exists"}]
        yield _pod(f"cold-{i}", namespace=f"ns-{i}", labels={"app": f"plain-{i}"}, tolerations=tolerations)


def decision_s(scheduler: Scheduler, pod: PodInfo) -> float:
    """One decision; nothing of it stays."""
    scheduler.pod_pending(pod, now_s=_NOW_S)
    began_s = time.perf_counter()
    command = scheduler.next_command(now_s=_NOW_S)
    took_s = time.perf_counter() - began_s
    assert isinstance(command, Bind)
    scheduler.bind_failed(pod.uid, retry=False, now_s=_NOW_S)
    return took_s


def _node(i: int) -> NodeInfo:
    name, resources = f"node-{i}", {"cpu": "16", "memory": "64Gi", "pods": "110"}
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{i % 3}"}
    return NodeInfo.parse({"metadata": {"name": name, "labels": labels}, "status": {"allocatable": resources}})


def _pod(name: str, *, namespace: str = "default", labels: dict[str, str], **spec: Any) -> PodInfo:
    container = {"name": "main", "resources": {"requests": {"cpu": "100m", "memory": "500Mi"}}}
    return PodInfo.parse(
        {
            "metadata": {"name": name, "namespace": namespace, "uid": name, "labels": labels},
            "spec": {"schedulerName": "plimsoll", "containers": [container], **spec},
        }
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=50_000, help="assigned pods of the full cluster")
    parser.add_argument("--decisions", type=int, default=300)
    return parser.parse_args()


if __name__ == "__main__":
    main()
