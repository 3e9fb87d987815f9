"""The scene's apps as the objects that a user would apply."""

from __future__ import annotations

from typing import Any

from benchmarks.quality.live_check.scene import App, Kind

Json = dict[str, Any]

# Read by the stages of the local control plane's kwok.
_COMPLETES_AFTER = "pod-complete.stage.kwok.x-k8s.io/delay"


def deployment(app: App, replicas: int) -> Json:
    selector = {"matchLabels": {"app": app.name}}
    spec = {"replicas": replicas, "selector": selector, "template": _template(app)}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": app.name}, "spec": spec}


def job(app: App, pods: int) -> Json:
    template = _template(app)
    template["metadata"]["annotations"] = {_COMPLETES_AFTER: f"{app.lifetime_s:g}s"}
    template["spec"]["restartPolicy"] = "Never"
    spec = {"parallelism": pods, "completions": pods, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": app.name}, "spec": spec}


def bare_pods(app: App, pods: int, *, before: int) -> Json:
    """Args:
    before: how many there are already.
    """
    items = [_bare_pod(app, number) for number in range(before + 1, before + pods + 1)]
    return {"apiVersion": "v1", "kind": "List", "items": items}


def of(app: App, pods: int, *, before: int) -> Json:
    match app.kind:
        case Kind.DEPLOYMENT:
            return deployment(app, before + pods)
        case Kind.JOB:
            return job(app, pods)
        case Kind.BARE:
            return bare_pods(app, pods, before=before)


def _bare_pod(app: App, number: int) -> Json:
    template = _template(app)
    template["metadata"]["name"] = f"{app.name}-{number}"
    return {"apiVersion": "v1", "kind": "Pod", **template}


def _template(app: App) -> Json:
    container = {"name": "main", "image": app.name, "resources": {"requests": _requests(app)}}
    spec = {"schedulerName": "plimsoll", "containers": [container]}
    return {"metadata": {"labels": {"app": app.name}}, "spec": spec}


def _requests(app: App) -> dict[str, str]:
    asked = {"cpu": f"{round(1000 * app.request_cores)}m", "memory": str(int(app.request_bytes))}
    return asked if app.request_cores else {}
