"""Where the command line gets its answers: a server's debug endpoint, or the cluster's API server."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from plimsoll.errors import ApiError, Forbidden, NotFound, SettingsError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = dict[str, Any]

TIMEOUT_S = 10.0
LEASE_NAME = "plimsoll"
_DECISIONS = "debug/decisions"
_AUTH_STATUSES = frozenset({401, 403})


class Cluster:
    """The API server that a kubeconfig, or the pod's service account, leads to."""

    def __init__(self, *, kubeconfig: str | None, context: str | None) -> None:
        """Load the credentials; nothing is asked yet.

        Raises:
            SettingsError: there is no usable configuration.
        """
        self._files = kubeconfig or os.environ.get("KUBECONFIG") or _default_file()
        self._context = context
        self._api = _client(self._files, context) if self._files else _in_cluster_client()

    @property
    def namespace(self) -> str:
        """The kubeconfig context's namespace, as kubectl takes it where none is given."""
        if not self._files:
            return "default"
        from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger

        merged = KubeConfigMerger(self._files).config  # type: ignore[no-untyped-call]
        loader = KubeConfigLoader(merged, active_context=self._context)  # type: ignore[no-untyped-call]
        chosen = loader.current_context["context"].get("namespace")
        return str(chosen) if chosen else "default"

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
            body = response.read()
        except (OpenApiException, HTTPError, OSError) as error:
            message = f"the API server at {self._api.configuration.host} cannot be reached: {_root(error)}"
            raise Unavailable(message, status=0) from error
        return _document(body, status=response.status, of="the API server")

    def pod(self, namespace: str, name: str) -> Json:
        try:
            return self.get(f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(name, safe='')}")
        except NotFound as error:
            raise NotFound(f"pod {namespace}/{name} not found", status=error.status) from error

    def decisions_of_leader(self, pod_key: str, *, namespace: str, port: int) -> Json:
        """What the leader remembers about a pod, through the API server's proxy to the leader's pod.

        Raises:
            ApiError: there is no leader, or it cannot be reached in this way.
        """
        leader = self._leader(namespace)
        path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/http:{quote(leader, safe='')}:{port}/proxy"
        return decisions_in(self.get(f"{path}/{_DECISIONS}", {"pod": pod_key}), of=f"pod {namespace}/{leader}")

    def _leader(self, namespace: str) -> str:
        """The pod's name, which the Lease's holder identity begins with."""
        lease = self.get(f"/apis/coordination.k8s.io/v1/namespaces/{quote(namespace, safe='')}/leases/{LEASE_NAME}")
        holder = str((lease.get("spec") or {}).get("holderIdentity") or "")
        if not holder:
            raise NotFound(f"nobody holds the Lease {namespace}/{LEASE_NAME}", status=404)
        return holder.rpartition("_")[0] or holder


def ask_server(url: str, pod_key: str) -> Json:
    """What the process behind ``url`` (its metrics address) remembers about a pod.

    Raises:
        SettingsError: the URL is none.
        ApiError: no answer, or not the documented one.
    """
    if urlsplit(url).scheme not in {"http", "https"}:
        raise SettingsError(f"--server {url}: write an address such as http://127.0.0.1:10260")
    # Reached directly: it is somebody's own forwarded port, which a proxy would not know.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url.rstrip('/')}/{_DECISIONS}?{urlencode({'pod': pod_key})}", timeout=TIMEOUT_S) as answer:
            found = _document(answer.read(), status=answer.status, of=url)
    except urllib.error.HTTPError as error:
        found = _document(error.read(), status=error.code, of=url)
    except (OSError, ValueError) as error:
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
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _default_file() -> str | None:
    file = Path("~/.kube/config").expanduser()
    return str(file) if file.exists() else None


def _client(files: str, context: str | None) -> Any:
    """A client from kubeconfig files, whose names may be joined as in ``KUBECONFIG``."""
    # The library reads KUBECONFIG when it is imported, and never again: it is handed the files instead.
    from kubernetes.config import ConfigException, new_client_from_config
    from yaml import YAMLError

    if not any(Path(file).expanduser().exists() for file in files.split(os.pathsep)):
        raise SettingsError(f"kubeconfig {files} does not exist")
    try:
        return new_client_from_config(  # type: ignore[no-untyped-call]
            config_file=files, context=context, persist_config=False
        )
    except (ConfigException, YAMLError, AttributeError, KeyError, OSError, TypeError, ValueError) as error:
        raise SettingsError(f"kubeconfig {files} cannot be used: {error}") from error


def _in_cluster_client() -> Any:
    from kubernetes.client import ApiClient, Configuration
    from kubernetes.config import ConfigException, load_incluster_config

    configuration = Configuration()
    try:
        load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
    except ConfigException as error:
        raise SettingsError("there is no kubeconfig: give --kubeconfig, or set KUBECONFIG") from error
    return ApiClient(configuration)


def _root(error: BaseException) -> str:
    """The innermost reason: the outer ones tell of pools and retries."""
    reason: Any = error
    while isinstance(inner := getattr(reason, "reason", None), BaseException):
        reason = inner
    return str(getattr(reason, "strerror", None) or reason)
