"""Where the command line gets its answers: a server's debug endpoint, or the cluster's API server."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from plimsoll.errors import ApiError, Forbidden, NotFound, SettingsError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, Any]

TIMEOUT_S = 10.0
_DECISIONS = "debug/decisions"
_AUTH_STATUSES = frozenset({401, 403})


class Cluster:
    """The API server that a kubeconfig, or the pod's service account, leads to."""

    def __init__(self, *, kubeconfig: str, context: str) -> None:
        """Load the credentials; nothing is asked yet.

        Raises:
            SettingsError: there is no usable configuration.
        """
        from kubernetes.client import ApiClient

        from plimsoll.kube.config import find_access

        self._access = find_access(kubeconfig=kubeconfig, context=context)
        configuration = self._access.load()
        # Somebody waits at a terminal, and urllib3 would write a line of its own there for each further try.
        configuration.retries = False
        self._api = ApiClient(configuration)

    @property
    def namespace(self) -> str:
        """The kubeconfig context's, or the pod's own, as kubectl takes it where none is given."""
        from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger

        from plimsoll.kube.config import own_namespace

        if not self._access.kubeconfig:
            return own_namespace()
        merged = KubeConfigMerger(self._access.kubeconfig).config  # type: ignore[no-untyped-call]
        loader = KubeConfigLoader(merged, active_context=self._access.context or None)  # type: ignore[no-untyped-call]
        return str(loader.current_context["context"].get("namespace") or "default")

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Json:
        """One object as JSON.

        Raises:
            ApiError: the API server did not answer, or not with the object.
        """
        from kubernetes.client.exceptions import OpenApiException
        from urllib3.exceptions import HTTPError

        request = self._api.param_serialize(
            method="GET",
            resource_path=path,
            query_params=list((query or {}).items()),
            header_params={"Accept": "application/json"},
            auth_settings=["BearerToken"],
        )
        try:
            response = self._api.call_api(*request, _request_timeout=TIMEOUT_S)
            body = response.read()  # type: ignore[no-untyped-call]
        except (OpenApiException, HTTPError, OSError) as error:
            message = f"the API server at {self._api.configuration.host} cannot be reached: {_root(error)}"
            raise Unavailable(message, status=0) from error
        return _document(body, status=response.status, of="the API server")

    def pod(self, namespace: str, name: str) -> Json:
        try:
            return self.get(f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(name, safe='')}")
        except NotFound as error:
            raise NotFound(f"pod {namespace}/{name} not found", status=error.status) from error

    def decisions_of_leader(self, pod_key: str, *, namespace: str, lease: str, port: int) -> Json:
        """What the leader remembers about a pod, through the API server's proxy to the leader's pod.

        Raises:
            ApiError: there is no leader, or it cannot be reached in this way.
        """
        leader = self._leader(namespace, lease)
        path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/http:{quote(leader, safe='')}:{port}/proxy"
        return decisions_in(self.get(f"{path}/{_DECISIONS}", {"pod": pod_key}), of=f"pod {namespace}/{leader}")

    def _leader(self, namespace: str, lease: str) -> str:
        """The pod's name, which the Lease's holder identity begins with."""
        held = self.get(
            f"/apis/coordination.k8s.io/v1/namespaces/{quote(namespace, safe='')}/leases/{quote(lease, safe='')}"
        )
        holder = str((held.get("spec") or {}).get("holderIdentity") or "")
        if not holder:
            raise NotFound(f"nobody holds the Lease {namespace}/{lease}", status=404)
        return holder.rpartition("_")[0] or holder


def ask_server(url: str, pod_key: str) -> Json:
    """What the process behind ``url`` (its metrics address) remembers about a pod.

    Raises:
        SettingsError: the URL is none.
        ApiError: no answer, or not the documented one.
    """
    if not url.startswith(("http://", "https://")):
        raise SettingsError(f"--server {url}: write an address such as http://127.0.0.1:10260")
    # Reached directly: it is somebody's own forwarded port, which a proxy would not know.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    target = f"{url.rstrip('/')}/{_DECISIONS}?{urlencode({'pod': pod_key})}"
    try:
        with opener.open(target, timeout=TIMEOUT_S) as answer:
            found = _document(answer.read(), status=answer.status, of=url)
    except urllib.error.HTTPError as error:
        with error:
            found = _document(error.read(), status=error.code, of=url)
    except (OSError, ValueError, HTTPException) as error:
        raise Unavailable(f"{url} cannot be reached: {_root(error)}", status=0) from error
    return decisions_in(found, of=url)


def decisions_in(document: Json, *, of: str) -> Json:
    """The document, where it is one of decisions; anything else is somebody else's answer."""
    decisions = document.get("decisions")
    if isinstance(decisions, list) and all(isinstance(decision, dict) for decision in decisions):
        return document
    raise ApiError(f"{of} does not answer with decisions; is it Plimsoll's metrics address?", status=200)


def _document(body: bytes, *, status: int, of: str) -> Json:
    found = _json(body)
    if status < 300 and found is not None:
        return found
    told = (found or {}).get("message") or body[:200].decode(errors="replace").strip() or "no explanation"
    message = f"{of} answered {status}: {told}"
    match status:
        case 404:
            raise NotFound(message, status=status)
        case _ if status in _AUTH_STATUSES:
            raise Forbidden(message, status=status)
        case _:
            raise ApiError(message, status=status)


def _json(body: bytes) -> Json | None:
    try:
        found = json.loads(body)
    except (RecursionError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _root(error: BaseException) -> str:
    """The innermost reason: the outer ones tell of pools and retries."""
    while inner := _inner(error):
        error = inner
    told = getattr(error, "strerror", None) or getattr(error, "reason", None) or str(error)
    return str(told or type(error).__name__)


def _inner(error: BaseException) -> BaseException | None:
    reason = getattr(error, "reason", None)
    return reason if isinstance(reason, BaseException) else error.__cause__
