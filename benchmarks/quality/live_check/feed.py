"""What the scripted exporter tells: the background, and what the pods that really run on each node use."""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kubernetes import client, config

from benchmarks.quality.live_check.scene import App, Load, Machine, Scene
from devcluster import ExporterClient
from devcluster import Load as NodeLoad
from devcluster.exporter.load import PodLoad

Json = dict[str, Any]

_EVERY_S = 0.5
_NAMESPACE = "default"
_DEVICE = "eth0"


class Pods:
    """Asks the API server for the scene's pods."""

    def __init__(self, kubeconfig: Path) -> None:
        api: client.ApiClient = config.new_client_from_config(config_file=str(kubeconfig))  # type: ignore[no-untyped-call]
        self._core = client.CoreV1Api(api)

    def all(self) -> list[Json]:
        answer: Any = self._core.list_namespaced_pod(_NAMESPACE, _preload_content=False)
        items: list[Json] = json.loads(answer.data)["items"]
        return items


class Feed:
    """Looks twice a second which pods run where, and has the exporter count what they use from then on.

    What ended it before its time is raised at the end of the ``with`` block.
    """

    def __init__(self, scene: Scene, pods: Pods, exporter: ExporterClient) -> None:
        self._scene, self._pods, self._exporter = scene, pods, exporter
        self._over = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        due_s = time.monotonic()
        told: dict[str, NodeLoad] = {}
        while not self._over.wait(max(0.0, due_s - time.monotonic())):
            due_s = max(due_s + _EVERY_S, time.monotonic())
            try:
                loads = node_loads(self._scene, self._pods.all())
                self._exporter.set_many({name: load for name, load in loads.items() if told.get(name) != load})
            except Exception as error:  # noqa: BLE001 - told to whoever waits
                self._error = error
                return
            told = loads


def node_loads(scene: Scene, pods: Iterable[Json]) -> dict[str, NodeLoad]:
    """By node, what it and each of its pods carry while these pods run."""
    on: dict[str, list[tuple[str, App]]] = defaultdict(list)
    for pod in pods:
        if pod["status"].get("phase") == "Running":
            name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
            on[pod["spec"]["nodeName"]].append((name, scene.app(pod["metadata"]["labels"]["app"])))
    return {machine.name: node_load(machine, on[machine.name]) for machine in scene.machines}


def node_load(machine: Machine, pods: Iterable[tuple[str, App]]) -> NodeLoad:
    pods = list(pods)
    total = Load(*map(sum, zip(machine.background, *(app.use for _, app in pods), strict=True)))
    return {
        "cpu_utilisation": total.cores / machine.cores,
        "memory_used_bytes": total.mem_bytes,
        "receive_bytes_per_s": {_DEVICE: total.receive_bytes_s},
        "transmit_bytes_per_s": {_DEVICE: total.transmit_bytes_s},
        "pods": {name: _pod_load(app.use) for name, app in pods},
    }


def _pod_load(use: Load) -> PodLoad:
    return {
        "cpu_cores": use.cores,
        "memory_bytes": use.mem_bytes,
        "receive_bytes_per_s": use.receive_bytes_s,
        "transmit_bytes_per_s": use.transmit_bytes_s,
    }
