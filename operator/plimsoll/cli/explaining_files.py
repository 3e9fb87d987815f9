"""``plimsoll explain --cluster FILE``: verdicts on a cluster that is written down, without touching any."""

from __future__ import annotations

import difflib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from plimsoll.cli.pod_names import split_pod_name
from plimsoll.errors import InvalidInput

if TYPE_CHECKING:
    from plimsoll.cluster.pod import PodInfo
    from plimsoll.scheduling.offline import WrittenCluster

Json = dict[str, Any]

_WRITE = "write it with kubectl get nodes,pods,... -A -o json"


def verdicts(
    items: list[Json],
    *,
    scheduler_name: str,
    namespace: str | None,
    names: tuple[str, ...],
    where: str = "the file",
) -> tuple[list[Json], list[str]]:
    """A document per pending pod (of a namespace, of these names), and what else the reader should know.

    Raises:
        InvalidInput: there is no such pod.
    """
    import numpy as np

    from plimsoll.reporting.verdicts import verdict_document
    from plimsoll.scheduling.offline import read_cluster

    if not items:
        raise InvalidInput(f"{where} holds no API objects: {_WRITE}")
    cluster = read_cluster(items, scheduler_name=scheduler_name, now_s=time.time(), rng=np.random.default_rng(0))
    wanted = [split_pod_name(name, namespace) for name in names] or [(namespace, "")]
    pending = [pod for pod in cluster.pending.values() if any(_meant(pod, *one) for one in wanted)]
    remarks = [*cluster.unreadable, *_not_found(cluster, wanted)]
    if not pending:
        raise InvalidInput("; ".join(remarks) or _no_pods(cluster, namespace, where))
    remarks.extend(_left_out({str(item.get("kind")) for item in items}, pending, where))
    return [verdict_document(cluster.judge(pod)) for pod in pending], remarks


def _meant(pod: PodInfo, namespace: str | None, name: str) -> bool:
    return namespace in {None, pod.namespace} and name in {"", pod.name}


def _not_found(cluster: WrittenCluster, wanted: list[tuple[str | None, str]]) -> Iterator[str]:
    """A sentence for each name that no pending pod has, with what is known of it."""
    for namespace, name in wanted:
        if not name or any(_meant(pod, namespace, name) for pod in cluster.pending.values()):
            continue
        place = f" in namespace {namespace}" if namespace else ""
        yield f"no pending pod is named {name}{place}{_known_of(cluster, namespace, name)}"


def _known_of(cluster: WrittenCluster, namespace: str | None, name: str) -> str:
    ends = f"{namespace}/{name}" if namespace else f"/{name}"
    if there := [f"{key} {state}" for key, state in cluster.settled.items() if key.endswith(ends)]:
        return f": {', '.join(there)}"
    names = {pod.name for pod in cluster.pending.values() if namespace in {None, pod.namespace}}
    close = difflib.get_close_matches(name, names)
    return f": did you mean {' or '.join(close)}?" if close else ""


def _left_out(kinds: set[str], pending: list[PodInfo], where: str) -> Iterator[str]:
    """What the file should hold for these pods to be judged, and does not hold at all."""
    if "Node" not in kinds:
        yield f"{where} holds no nodes, so that no pod fits: {_WRITE}"
    claiming = [pod.key for pod in pending if any(pod.volumes.plain_claims())]
    if claiming and "PersistentVolumeClaim" not in kinds:
        yield f"{where} holds no PersistentVolumeClaims, which {claiming[0]} uses: write them into it too"


def _no_pods(cluster: WrittenCluster, namespace: str | None, where: str) -> str:
    from plimsoll.reporting.text import listed

    place = f" in namespace {namespace}" if namespace else ""
    with_pods = sorted({key.partition("/")[0] for key in (*cluster.pending, *cluster.settled)})
    if namespace and with_pods and namespace not in with_pods:
        return f"{where} holds no pods{place}, only in {listed(with_pods, at_most=10)}"
    settled = [key for key in cluster.settled if not namespace or key.startswith(f"{namespace}/")]
    found = f" (of its {len(settled)} pods none waits for a node)" if settled else ""
    ignored = cluster.ignored
    hint = f"; kinds that scheduling does not ask about: {', '.join(sorted(ignored))}" if ignored else ""
    return f"{where} holds no pending pod{place}{found}, so there is nothing to explain{hint}"
