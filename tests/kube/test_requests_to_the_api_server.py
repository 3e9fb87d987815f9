from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.errors import ApiError, Conflict, Forbidden, Gone, NotFound, Unavailable
from plimsoll.kube.client import ApiClient
from plimsoll.kube.config import ClusterAccess
from plimsoll.kube.connection import Connection
from plimsoll.kube.resources import resource_of
from tests.kube.api_server import ApiServer


@pytest.mark.parametrize(
    ("status", "want"),
    [
        pytest.param(400, ApiError, id="bad request"),
        pytest.param(401, Forbidden, id="unauthorized"),
        pytest.param(403, Forbidden, id="forbidden"),
        pytest.param(404, NotFound, id="not found"),
        pytest.param(409, Conflict, id="conflict"),
        pytest.param(410, Gone, id="gone"),
        pytest.param(422, ApiError, id="invalid"),
        pytest.param(429, Unavailable, id="too many requests"),
        pytest.param(500, Unavailable, id="server error"),
        pytest.param(503, Unavailable, id="unavailable"),
    ],
)
async def test_an_error_status_becomes_the_error_of_its_meaning(
    server: ApiServer, client: ApiClient, status: int, want: type[ApiError]
) -> None:
    server.fail("GET", "/api/v1/pods", status=status, times=9, message="the reason")
    with pytest.raises(ApiError, match="the reason") as raised:
        await client.get("/api/v1/pods")
    assert type(raised.value) is want
    assert raised.value.status == status


async def test_the_wait_that_the_server_asks_for_is_kept(server: ApiServer, client: ApiClient) -> None:
    server.fail("GET", "/api/v1/pods", status=429, headers={"Retry-After": "3"})
    with pytest.raises(Unavailable) as raised:
        await client.get("/api/v1/pods")
    assert raised.value.retry_after_s == 3.0


async def test_an_answer_that_does_not_come_is_unavailable(server: ApiServer, client: ApiClient) -> None:
    server.hang("GET", "/api/v1/pods")
    with pytest.raises(Unavailable) as raised:
        await client.get("/api/v1/pods", timeout_s=0.1)
    assert raised.value.status == 0


async def test_nobody_listening_is_unavailable_and_names_the_address(tmp_path: Path) -> None:
    nobody = ApiServer(url="http://127.0.0.1:1")
    async with ApiClient(Connection(ClusterAccess(str(nobody.kubeconfig(tmp_path))))) as client:
        with pytest.raises(Unavailable, match=r"127\.0\.0\.1:1"):
            await client.get("/version")


async def test_every_request_is_observed_with_its_verb_resource_and_code(server: ApiServer, tmp_path: Path) -> None:
    seen: list[tuple[str, str, int]] = []
    connection = Connection(ClusterAccess(str(server.kubeconfig(tmp_path))))
    async with ApiClient(connection, observe=lambda verb, what, code, _: seen.append((verb, what, code))) as client:
        await client.post("/api/v1/namespaces/ns/pods", {"metadata": {"name": "a"}})
        server.fail("GET", "/api/v1/namespaces/ns/pods/a", status=500)
        with pytest.raises(Unavailable):
            await client.get("/api/v1/namespaces/ns/pods/a")
        server.hang("GET", "/api/v1/nodes")
        with pytest.raises(Unavailable):
            await client.get("/api/v1/nodes", timeout_s=0.1)
    assert seen == [("post", "pods", 201), ("get", "pods", 500), ("get", "nodes", 0)]


@pytest.mark.parametrize(
    ("path", "want"),
    [
        ("/api/v1/nodes", "nodes"),
        ("/api/v1/nodes/n1", "nodes"),
        ("/api/v1/namespaces", "namespaces"),
        ("/api/v1/namespaces/ns", "namespaces"),
        ("/api/v1/namespaces/ns/pods", "pods"),
        ("/api/v1/namespaces/ns/pods/p/binding", "pods/binding"),
        ("/apis/plimsoll.dev/v1alpha1/schedulingpolicies/p/status", "schedulingpolicies/status"),
        ("/apis/events.k8s.io/v1/namespaces/ns/events/e", "events"),
        ("/apis/plimsoll.dev/v1alpha1", "apis"),
        ("/version", "version"),
    ],
)
def test_a_path_is_named_by_its_resource_and_never_by_an_object(path: str, want: str) -> None:
    assert resource_of(path) == want


async def test_a_list_comes_in_pages_of_one_version(server: ApiServer, client: ApiClient) -> None:
    for i in range(5):
        await server.put(f"/api/v1/nodes/n{i}", {})
    pages = [page async for page in client.pages("/api/v1/nodes", limit=2)]
    assert [len(page.items) for page in pages] == [2, 2, 1]
    assert {page.resource_version for page in pages} == {str(server.version)}


async def test_a_list_that_expires_between_pages_is_gone(server: ApiServer, client: ApiClient) -> None:
    for i in range(5):
        await server.put(f"/api/v1/nodes/n{i}", {})
    pages = client.pages("/api/v1/nodes", limit=2)
    await anext(pages)
    server.expire_pages()
    with pytest.raises(Gone):
        await anext(pages)


async def test_an_object_larger_than_any_buffer_comes_through_a_watch(server: ApiServer, client: ApiClient) -> None:
    large = {"data": "x" * 1_200_000}
    watch = client.watch("/api/v1/nodes", since=str(server.version), lasts_s=5)
    await server.put("/api/v1/nodes/small", {})
    await server.put("/api/v1/nodes/large", large)
    await server.put("/api/v1/nodes/small", {})
    events = [await anext(watch) for _ in range(3)]
    await watch.aclose()
    assert [e.object["metadata"]["name"] for e in events] == ["small", "large", "small"]
    assert events[1].object["data"] == large["data"]


async def test_a_watch_that_falls_silent_is_given_up(server: ApiServer, client: ApiClient) -> None:
    watch = client.watch("/api/v1/nodes", since="1", lasts_s=60, silence_s=0.1)
    with pytest.raises(Unavailable, match="watch of /api/v1/nodes broke"):
        await anext(watch)


async def test_a_watch_that_is_sent_elsewhere_has_not_been_opened(server: ApiServer, client: ApiClient) -> None:
    opened: list[bool] = []
    server.fail("GET", "/api/v1/nodes", status=302, headers={"Location": "/elsewhere"}, message="look there")
    watch = client.watch("/api/v1/nodes", since="1", lasts_s=5, opened=lambda: opened.append(True))
    with pytest.raises(ApiError, match="look there") as raised:
        await anext(watch)
    assert raised.value.status == 302
    assert opened == []
