from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import Forbidden, SettingsError
from plimsoll.kube.client import ApiClient
from plimsoll.kube.config import ClusterAccess, find_access, own_namespace
from plimsoll.kube.connection import Connection
from tests.kube.api_server import ApiServer


def _write(folder: Path, config: Any) -> ClusterAccess:
    path = folder / "config"
    path.write_text(config if isinstance(config, str) else json.dumps(config))
    return ClusterAccess(str(path))


def _config(**user: Any) -> dict[str, Any]:
    return {
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }


@pytest.mark.parametrize(
    ("config", "words"),
    [
        pytest.param("", "empty", id="empty file"),
        pytest.param("{unclosed: [", "cannot be used", id="no YAML"),
        pytest.param("just words", "cannot be used", id="no mapping"),
        pytest.param({"clusters": []}, "cannot be used", id="no contexts"),
        pytest.param(_config() | {"current-context": "away"}, "away", id="current context is not there"),
        pytest.param(_config() | {"clusters": []}, "cluster", id="cluster is not there"),
        pytest.param(_config(**{"client-certificate": "/nowhere.crt"}), "/nowhere.crt", id="no certificate"),
        pytest.param(_config(tokenFile="/nowhere.token"), "/nowhere.token", id="no token"),
        pytest.param(
            _config(exec={"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-plugin"}),
            "no-such-plugin",
            id="no plugin",
        ),
        pytest.param(
            _config(exec={"apiVersion": "v1", "command": "sh", "args": ["-c", "echo no luck >&2; exit 3"]}),
            "no luck",
            id="plugin fails",
        ),
    ],
)
def test_a_broken_kubeconfig_is_one_line_that_names_it(tmp_path: Path, config: Any, words: str) -> None:
    access = _write(tmp_path, config)
    with pytest.raises(SettingsError, match=words) as raised:
        Connection(access)
    assert access.kubeconfig in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_kubeconfig_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"does not exist.*--kubeconfig"):
        ClusterAccess(str(tmp_path / "none")).load()


def test_a_context_that_is_not_there_is_named(tmp_path: Path) -> None:
    access = _write(tmp_path, _config())
    with pytest.raises(SettingsError, match=r"no context 'other'.*--context"):
        ClusterAccess(access.kubeconfig, context="other").load()


def test_without_kubeconfig_and_service_account_the_way_out_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"--kubeconfig or KUBECONFIG, or run in a pod"):
        ClusterAccess(account=tmp_path).load()


def test_an_authority_that_is_no_certificate_is_told(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("not a certificate")
    config = _config(token="t")
    config["clusters"][0]["cluster"]["certificate-authority"] = str(tmp_path / "ca.crt")
    with pytest.raises(SettingsError, match="certificate authority"):
        Connection(_write(tmp_path, config))


@pytest.mark.parametrize(
    ("flag", "environ", "want"),
    [
        pytest.param("/flag", {"KUBECONFIG": "/env"}, "/flag", id="the flag goes first"),
        pytest.param("", {"KUBECONFIG": "/env"}, "/env", id="then the environment"),
        pytest.param("", {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "", id="then the service account"),
    ],
)
def test_where_credentials_come_from(
    flag: str, environ: dict[str, str], want: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_access(kubeconfig=flag, context="", environ=environ).kubeconfig == want


def test_the_home_folder_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text("{}")
    assert find_access(kubeconfig="", context="", environ={}).kubeconfig == str(tmp_path / ".kube" / "config")


def test_the_given_file_counts_whatever_the_environment_names(tmp_path: Path) -> None:
    """The official client reads KUBECONFIG when it is imported: hence another process."""
    access = _write(tmp_path, _config(token="t"))
    code = f"from plimsoll.kube.config import ClusterAccess\nprint(ClusterAccess({access.kubeconfig!r}).load().host)"
    environ = {**os.environ, "KUBECONFIG": "/no/such/file"}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "https://127.0.0.1:1"


def test_the_namespace_of_the_pod_is_read_from_its_account(tmp_path: Path) -> None:
    assert own_namespace(account=tmp_path) == "default"
    (tmp_path / "namespace").write_text("plimsoll-system\n")
    assert own_namespace(account=tmp_path) == "plimsoll-system"


def test_a_service_account_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    (tmp_path / "token").write_text("first\n")
    (tmp_path / "ca.crt").write_text("a certificate")
    configuration = ClusterAccess(account=tmp_path).load()
    assert configuration.host == "https://10.0.0.1:443"
    assert configuration.api_key["BearerToken"].split() == ["bearer", "first"]


async def test_a_token_that_was_rotated_is_used_without_a_restart(server: ApiServer, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old\n")
    access = ClusterAccess(str(server.kubeconfig(tmp_path, user={"tokenFile": str(token)})))
    async with ApiClient(Connection(access, clock=_Clock(step_s=60.0))) as client:
        await client.get("/api/v1/nodes")
        token.write_text("new\n")
        server.fail("GET", "/api/v1/nodes", status=401, where=lambda r: r.headers["Authorization"] == "Bearer old")
        await client.get("/api/v1/nodes")
    assert [h["Authorization"] for h in server.headers] == ["Bearer old", "Bearer old", "Bearer new"]


async def test_a_plugin_is_asked_again_when_its_token_is_refused(server: ApiServer, tmp_path: Path) -> None:
    plugin = tmp_path / "plugin.sh"
    plugin.write_text(
        f"#!/bin/sh\necho x >> {tmp_path}/calls\nn=$(wc -l < {tmp_path}/calls)\n"
        'echo \'{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",'
        '"status":{"token":"t\'$n\'"}}\'\n'
    )
    plugin.chmod(0o755)
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin)}}
    access = ClusterAccess(str(server.kubeconfig(tmp_path, user=user)))
    async with ApiClient(Connection(access, clock=_Clock(step_s=60.0))) as client:
        server.fail("GET", "/api/v1/nodes", status=401, where=lambda r: r.headers["Authorization"] == "Bearer t1")
        await client.get("/api/v1/nodes")
    assert [h["Authorization"] for h in server.headers] == ["Bearer t1", "Bearer t2"]


async def test_credentials_that_stay_refused_are_not_read_for_every_request(server: ApiServer, tmp_path: Path) -> None:
    access = ClusterAccess(str(server.kubeconfig(tmp_path)))
    server.fail("GET", "/api/v1/nodes", status=401, times=100)
    async with ApiClient(Connection(access, clock=_Clock(step_s=0.0))) as client:
        for _ in range(5):
            with pytest.raises(Forbidden):
                await client.get("/api/v1/nodes")
    assert len(server.requests) == 5


async def test_credentials_do_not_go_where_a_redirect_leads(server: ApiServer, tmp_path: Path) -> None:
    """kopf follows redirects with the session that it is given."""
    connection = Connection(ClusterAccess(str(server.kubeconfig(tmp_path))))
    async with ApiServer.running() as other, connection.session() as session:
        server.fail("GET", "/api/v1/nodes", status=307, headers={"Location": f"{other.url}/api/v1/nodes"})
        async with session.get(f"{server.url}/api/v1/nodes") as response:
            assert response.status == 200
        assert [h.get("Authorization") for h in server.headers] == ["Bearer secret"]
        assert [h.get("Authorization") for h in other.headers] == [None]


class _Clock:
    """Goes on by a step at each look."""

    def __init__(self, *, step_s: float) -> None:
        self._now_s = 0.0
        self._step_s = step_s

    def __call__(self) -> float:
        self._now_s += self._step_s
        return self._now_s
