"""``make demo``: plays the main job through and checks that it did what it shows."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from demo import operator, scene
from demo.placements import Placements, placements
from demo.waiting import DemoError, wait_for
from demo.workloads import REPLICAS, deployment, policy
from devcluster import DevCluster, DevClusterError

_FOLDER = Path(".demo")
_POLICIES = ("network-first", "memory-first")


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    arguments.add_argument("--keep", action="store_true", help="leave everything up, and say how to use it")
    options = arguments.parse_args()
    try:
        with _cluster(keep=options.keep) as cluster:
            url = _install(cluster)
            shown = _place(cluster)
            _show(cluster, shown, url)
            _check(cluster, shown)
            _say("done: every pod is bound, the idle nodes got most of them")
    except (DemoError, DevClusterError) as error:
        print(f"\nthe demo failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


@contextmanager
def _cluster(*, keep: bool) -> Iterator[DevCluster]:
    _say("starting the control plane, 12 nodes, Prometheus and metrics-server (the first time builds them)")
    cluster = DevCluster.start(scene.cluster(), directory=_FOLDER)
    try:
        yield cluster
    except BaseException:
        cluster.stop()
        raise
    if keep:
        cluster.release()
        _say(_usage(cluster))
    else:
        cluster.stop()


def _install(cluster: DevCluster) -> str:
    _say("helm install plimsoll, and the operator with its service account")
    operator.install(cluster)
    url = operator.start(cluster)
    for name in _POLICIES:
        _apply(cluster, policy(name, prometheus_url=str(cluster.prometheus_url)))
    # A rate that covers less than 30 s of its window is not believed, and the exporters have only just begun.
    _say("waiting for the first half minute of samples")
    wait_for("both policies are ready, with a fresh score for every node", lambda: _all_scored(cluster), timeout_s=75)
    _print_command(cluster, "get", "schedulingpolicies")
    return url


def _place(cluster: DevCluster) -> list[Placements]:
    _say(f"two Deployments of {REPLICAS} pods that name spec.schedulerName: plimsoll")
    started_s = time.monotonic()
    for name in _POLICIES:
        manifest = policy(name, prometheus_url=str(cluster.prometheus_url))
        _apply(cluster, deployment(name, selected_by=manifest))
    wait_for("all pods are bound", lambda: all(p.unbound == 0 for p in _placements(cluster)), timeout_s=60)
    print(f"all bound {time.monotonic() - started_s:.1f} s after the Deployments were applied")
    return _placements(cluster)


def _show(cluster: DevCluster, shown: list[Placements], url: str) -> None:
    wait_for("the policies count their pods", lambda: _all_counted(cluster), timeout_s=15)
    _print_command(cluster, "get", "schedulingpolicies")
    for each in shown:
        _say(f"where the pods of {each.deployment} went")
        print(each.table())
    pod = shown[0].first_pod
    _say(f"plimsoll explain pod {pod}")
    kubeconfig = str(cluster.kubeconfig)
    explain = (sys.executable, "-m", "plimsoll", "explain", "pod", pod, "--server", url, "--kubeconfig", kubeconfig)
    if subprocess.run(explain, check=False).returncode != 0:
        raise DemoError("explain had no answer")


def _check(cluster: DevCluster, shown: list[Placements]) -> None:
    for each in shown:
        if sum(each.pods.values()) != REPLICAS:
            raise DemoError(f"{each.deployment}: {sum(each.pods.values())} of {REPLICAS} pods are bound")
        if each.busiest >= each.idlest:
            raise DemoError(f"{each.deployment}: the three busiest nodes got no fewer pods than the three idlest")
    if not _all_scored(cluster):
        raise DemoError("no score reached the status of a policy")


def _placements(cluster: DevCluster) -> list[Placements]:
    return [
        placements(cluster, "network-first", metric="NETWORK RECEIVE", load=scene.network_percent()),
        placements(cluster, "memory-first", metric="MEMORY", load=scene.memory_percent()),
    ]


def _all_scored(cluster: DevCluster) -> bool:
    return all(_scored(status) for status in _statuses(cluster))


def _scored(status: dict[str, Any]) -> bool:
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions", ()))
    fresh = status.get("nodes", {}).get("summary") == "12/12"
    return ready and fresh and bool(status.get("scores"))


def _all_counted(cluster: DevCluster) -> bool:
    return all(s.get("bound") == REPLICAS for s in _statuses(cluster))


def _statuses(cluster: DevCluster) -> list[dict[str, Any]]:
    listed = json.loads(cluster.kubectl("get", "schedulingpolicies", "--output", "json"))["items"]
    return [policy.get("status", {}) for policy in listed]


def _apply(cluster: DevCluster, manifest: dict[str, Any]) -> None:
    cluster.kubectl("apply", "--server-side", "--filename", "-", input=json.dumps(manifest))


def _print_command(cluster: DevCluster, *arguments: str) -> None:
    print(f"\n$ kubectl {' '.join(arguments)}\n{cluster.kubectl(*arguments)}", end="")


def _usage(cluster: DevCluster) -> str:
    return "\n".join(
        (
            "left running; to use it:",
            f"  export KUBECONFIG={cluster.kubeconfig}",
            f"  .venv/bin/python -m devcluster kubectl --dir {_FOLDER} get schedulingpolicies",
            f"  .venv/bin/plimsoll explain pod NAME --server {operator.url(cluster)}",
            f"  Prometheus: {cluster.prometheus_url}",
            f"  .venv/bin/python -m devcluster status --dir {_FOLDER}",
            f"  .venv/bin/python -m devcluster down --dir {_FOLDER}",
        )
    )


def _say(sentence: str) -> None:
    print(f"\n== {sentence}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
