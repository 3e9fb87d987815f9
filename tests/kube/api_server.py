"""An API server in this process that can be made to fail as the real one cannot be asked to."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from aiohttp import web

Json = dict[str, Any]
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Fault:
    """What the next requests get instead of an answer; ``times`` of them."""

    matches: Callable[[web.Request], bool]
    answer: Answer
    times: int


@dataclass
class ApiServer:
    """Objects by path, versions that count up, lists in pages, watches, and faults on demand.

    Attributes:
        requests: method and path with query of every request, in order.
        bodies: what was sent with POST, PUT and PATCH, by method and path.
        expires_in_stream: a version that is too old is told by a line of the watch, not by its status.
    """

    objects: dict[str, Json] = field(default_factory=dict)
    version: int = 1
    requests: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[tuple[str, str, Json]] = field(default_factory=list)
    url: str = ""
    page: int = 10_000
    expires_in_stream: bool = False
    _events: list[tuple[int, str, Json]] = field(default_factory=list)
    _oldest: int = 0
    _faults: list[Fault] = field(default_factory=list)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _watches: set[asyncio.Task[None]] = field(default_factory=set)
    _snapshots: dict[str, tuple[list[Json], int]] = field(default_factory=dict)

    # -- objects ----------------------------------------------------------------------------------------

    async def put(self, path: str, body: Json) -> Json:
        """Creates or replaces, and tells the watches."""
        kind = "MODIFIED" if path in self.objects else "ADDED"
        self.version += 1
        metadata = {**body.get("metadata", {}), "resourceVersion": str(self.version)}
        metadata.setdefault("name", path.rsplit("/", 1)[1])
        metadata.setdefault("uid", f"uid-{self.version}")
        self.objects[path] = {**body, "metadata": metadata}
        await self._tell(kind, path)
        return self.objects[path]

    async def delete(self, path: str) -> None:
        self.version += 1
        gone = self.objects.pop(path)
        gone = {**gone, "metadata": {**gone["metadata"], "resourceVersion": str(self.version)}}
        self._events.append((self.version, "DELETED", {"path": path, "object": gone}))
        await self._notify()

    async def bookmark(self) -> None:
        body = {"metadata": {"resourceVersion": str(self.version)}}
        self._events.append((self.version, "BOOKMARK", {"path": "", "object": body}))
        await self._notify()

    async def forget_history(self) -> None:
        """As compaction: whoever watches from before now is told 410."""
        self.version += 1
        self._oldest = self.version
        self._events.clear()
        await self.cut_watches()

    async def cut_watches(self) -> None:
        for task in list(self._watches):
            task.cancel()
        await asyncio.sleep(0)

    async def _tell(self, kind: str, path: str) -> None:
        self._events.append((self.version, kind, {"path": path, "object": self.objects[path]}))
        await self._notify()

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    # -- faults -----------------------------------------------------------------------------------------

    def fail(
        self,
        method: str,
        path: str,
        *,
        status: int,
        times: int = 1,
        headers: dict[str, str] | None = None,
        message: str = "made to fail",
        where: Callable[[web.Request], bool] = lambda _: True,
        carried_out: bool = False,
    ) -> None:
        """``carried_out``: the request does what it asks for, and is answered with the error nevertheless."""

        async def answer(request: web.Request) -> web.StreamResponse:
            if carried_out:
                await self._handle(request)
            return _status(status, message, headers=headers)

        self._faults.append(Fault(lambda r: r.method == method and r.path == path and where(r), answer, times))

    def hang(self, method: str, path: str, *, times: int = 1, carried_out: bool = False) -> None:
        """No answer, ever."""

        async def answer(request: web.Request) -> web.StreamResponse:
            if carried_out:
                await self._handle(request)
            await asyncio.Event().wait()
            raise AssertionError

        self._faults.append(Fault(lambda r: r.method == method and r.path == path, answer, times))

    def respond(self, method: str, path: str, body: Json, *, status: int = 200) -> None:
        """Always, until the end of the test."""

        async def answer(_: web.Request) -> web.StreamResponse:
            return web.json_response(body, status=status)

        self._faults.append(Fault(lambda r: r.method == method and r.path == path, answer, 1_000_000))

    def answer(self, method: str, path: str, answer: Answer, *, times: int = 1_000_000) -> None:
        """Always, until the end of the test, unless ``times`` says less."""
        self._faults.append(Fault(lambda r: r.method == method and r.path == path, answer, times))

    def prefer_failures(self) -> None:
        """What was asked for last goes first."""
        self._faults.reverse()

    # -- what was asked ---------------------------------------------------------------------------------

    def count(self, method: str, path: str = "", *, watch: bool | None = None) -> int:
        asked = [r for r in self.requests if r.startswith(f"{method} {path}")]
        return len([r for r in asked if watch is None or ("watch=true" in r) == watch])

    def sent(self, method: str, path: str = "") -> list[Json]:
        return [body for m, p, body in self.bodies if m == method and p.startswith(path)]

    def kubeconfig(self, folder: Path, *, user: Json | None = None) -> Path:
        path = folder / "kubeconfig"
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "here", "cluster": {"server": self.url}}],
            "users": [{"name": "me", "user": user or {"token": "secret"}}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
            "current-context": "here",
        }
        path.write_text(json.dumps(config))
        return path

    # -- serving ----------------------------------------------------------------------------------------

    @classmethod
    @contextlib.asynccontextmanager
    async def running(cls) -> AsyncIterator[Self]:
        server = cls()
        app = web.Application(client_max_size=2**24)
        app.router.add_route("*", "/{path:.*}", server._take)
        runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield server
        finally:
            await server.cut_watches()
            await runner.cleanup()

    async def _take(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(f"{request.method} {request.path_qs}")
        self.headers.append(dict(request.headers))
        if request.can_read_body:
            self.bodies.append((request.method, request.path, json.loads(await request.read())))
        for fault in self._faults:
            if fault.times > 0 and fault.matches(request):
                fault.times -= 1
                return await fault.answer(request)
        return await self._handle(request)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        match request.method:
            case "GET" if request.path in self.objects:
                return web.json_response(self.objects[request.path])
            case "GET" if request.query.get("watch"):
                return await self._watch(request)
            case "GET":
                return self._list(request)
            case "POST":
                return await self._create(request)
            case "PUT":
                return await self._replace(request)
            case "DELETE":
                return await self._remove(request)
            case _:
                return await self._patch(request)

    def _list(self, request: web.Request) -> web.StreamResponse:
        if token := request.query.get("continue"):
            if token not in self._snapshots:
                return _status(410, "the provided continue token is too old")
            items, version = self._snapshots.pop(token)
        else:
            items, version = self._under(request.path), self.version
            if not items and not request.path.endswith("s"):
                return _status(404, f"{request.path} not found")
        limit = int(request.query.get("limit") or len(items) or 1)
        metadata: Json = {"resourceVersion": str(version)}
        if len(items) > limit:
            token = f"token-{len(self.requests)}"
            self._snapshots[token] = (items[limit:], version)
            metadata["continue"] = token
        return web.json_response({"kind": "List", "metadata": metadata, "items": items[:limit]})

    def expire_pages(self) -> None:
        self._snapshots.clear()

    def _under(self, collection: str) -> list[Json]:
        return [body for path, body in sorted(self.objects.items()) if path.rsplit("/", 1)[0] == collection]

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        since = int(request.query["resourceVersion"])
        if since < self._oldest and not self.expires_in_stream:
            return _status(410, "too old resource version")
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        if since < self._oldest:
            status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
            await response.write(json.dumps({"type": "ERROR", "object": status}).encode() + b"\n")
            return response
        task = asyncio.ensure_future(self._stream(request.path, since, response))
        self._watches.add(task)
        try:
            await task
        except asyncio.CancelledError:
            if request.transport is None:
                raise
        finally:
            task.cancel()
            self._watches.discard(task)
        return response

    async def _stream(self, collection: str, since: int, response: web.StreamResponse) -> None:
        while True:
            for version, kind, content in list(self._events):
                if version > since and (kind == "BOOKMARK" or content["path"].rsplit("/", 1)[0] == collection):
                    line = json.dumps({"type": kind, "object": content["object"]}).encode() + b"\n"
                    await response.write(line)
            since = max([since, *(version for version, _, _ in self._events)])
            await self._newer_than(since)

    async def _newer_than(self, since: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: any(v > since for v, _, _ in self._events))

    async def _create(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        if request.path.endswith("/binding"):
            return await self._bind(request.path.removesuffix("/binding"), body)
        path = f"{request.path}/{body.get('metadata', {}).get('name', f'unnamed-{self.version}')}"
        if path in self.objects:
            return _status(409, "already exists", reason="AlreadyExists")
        return web.json_response(await self.put(path, body), status=201)

    async def _bind(self, path: str, body: Json) -> web.StreamResponse:
        """As the real one: 404, 409 for another uid, 409 for a pod that has a node."""
        pod = self.objects.get(path)
        if pod is None:
            return _status(404, f'pods "{path}" not found')
        if pod["metadata"]["uid"] != body["metadata"]["uid"]:
            return _status(409, "Precondition failed: UID in precondition: a, UID in object meta: b")
        if pod.get("spec", {}).get("nodeName"):
            return _status(409, f"pod is already assigned to node {pod['spec']['nodeName']!r}")
        annotations = {**pod["metadata"].get("annotations", {}), **body["metadata"].get("annotations", {})}
        bound = {**pod, "metadata": {**pod["metadata"], "annotations": annotations}}
        bound["spec"] = {**pod.get("spec", {}), "nodeName": body["target"]["name"]}
        await self.put(path, bound)
        return web.json_response({"kind": "Status", "status": "Success", "code": 201}, status=201)

    async def _replace(self, request: web.Request) -> web.StreamResponse:
        body, found = json.loads(await request.read()), self.objects.get(request.path)
        if found is None:
            return _status(404, "not found")
        if body["metadata"].get("resourceVersion") != found["metadata"]["resourceVersion"]:
            return _status(409, "the object has been modified", reason="Conflict")
        return web.json_response(await self.put(request.path, body))

    async def _remove(self, request: web.Request) -> web.StreamResponse:
        """At once, as for a pod on no node, or without grace period."""
        body, found = json.loads(await request.read() or "{}"), self.objects.get(request.path)
        if found is None:
            return _status(404, "not found")
        if (body.get("preconditions") or {}).get("uid", found["metadata"]["uid"]) != found["metadata"]["uid"]:
            return _status(409, "the UID in the precondition does not match")
        await self.delete(request.path)
        return web.json_response(found)

    async def _patch(self, request: web.Request) -> web.StreamResponse:
        path = request.path.removesuffix("/status")
        body, found = json.loads(await request.read()), self.objects.get(path)
        if found is None:
            return _status(404, "not found")
        if body.get("metadata", {}).get("uid", found["metadata"]["uid"]) != found["metadata"]["uid"]:
            return _status(409, "the UID in the precondition does not match")
        version = found["metadata"]["resourceVersion"]
        if body.get("metadata", {}).get("resourceVersion", version) != version:
            return _status(409, "the object has been modified", reason="Conflict")
        return web.json_response(await self.put(path, merged(found, body)))


def merged(target: Any, patch: Any) -> Any:
    """RFC 7396 as it is written there."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def _status(code: int, message: str, *, reason: str = "", headers: dict[str, str] | None = None) -> web.StreamResponse:
    body = {"kind": "Status", "status": "Failure", "code": code, "message": message, "reason": reason}
    return web.json_response(body, status=code, headers=headers)
