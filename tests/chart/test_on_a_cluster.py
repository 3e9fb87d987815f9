"""The chart on a real API server: installed, upgraded, uninstalled."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from devcluster import KubectlError, binaries
from plimsoll.kube.client import ApiClient
from plimsoll.kube.config import ClusterAccess
from plimsoll.kube.connection import Connection
from plimsoll.kube.permissions import ALWAYS, Permission, lease_permissions, missing
from plimsoll.kube.resources import LEASES, NODES, PODS, POLICIES, Resource
from tests.chart.chart import CHART, REPOSITORY, VALUES_FILES, render

if TYPE_CHECKING:
    from pathlib import Path

    from devcluster import DevCluster

    MakeNamespace = Callable[..., str]

pytestmark = pytest.mark.cluster

CRD = "customresourcedefinition/schedulingpolicies.plimsoll.dev"
SECRETS = Resource("", "v1", "secrets")
_numbers = itertools.count(1)


@pytest.fixture
def namespace(api: DevCluster) -> MakeNamespace:
    """Makes namespaces that no other test uses; without controllers they cannot be deleted."""

    def make(**labels: str) -> str:
        name = f"chart-{next(_numbers)}"
        api.kubectl("create", "namespace", name)
        for key, value in labels.items():
            api.kubectl("label", "namespace", name, f"{key}={value}")
        return name

    return make


@contextmanager
def _without_crd(api: DevCluster) -> Iterator[None]:
    """Other tests may have installed it in their way, and find it so again."""
    before = api.kubectl("get", CRD, "-o", "yaml", "--ignore-not-found")
    api.kubectl("delete", CRD, "--ignore-not-found")
    try:
        yield
    finally:
        api.kubectl("delete", CRD, "--ignore-not-found")
        if before:
            api.kubectl("apply", "--server-side", "-f", "-", input=_without_server_fields(before))


def _without_server_fields(text: str) -> str:
    crd = yaml.safe_load(text)
    metadata = {key: value for key, value in crd["metadata"].items() if key in {"name", "labels", "annotations"}}
    return yaml.safe_dump({**{key: crd[key] for key in ("apiVersion", "kind", "spec")}, "metadata": metadata})


def _get(api: DevCluster, *arguments: str) -> Any:
    return json.loads(api.kubectl("get", *arguments, "-o", "json"))


@pytest.mark.parametrize("values", VALUES_FILES, ids=lambda path: path.stem)
def test_the_api_server_takes_every_object_and_every_field(
    api: DevCluster, namespace: MakeNamespace, values: Path
) -> None:
    rendered = render(values, namespace=namespace())

    answer = api.kubectl(
        "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-", input=rendered.text
    )

    assert len(answer.splitlines()) == len(rendered.manifests)


@pytest.mark.parametrize("values", VALUES_FILES, ids=lambda path: path.stem)
def test_the_pods_satisfy_the_restricted_standard(api: DevCluster, namespace: MakeNamespace, values: Path) -> None:
    restricted = namespace(**{"pod-security.kubernetes.io/enforce": "restricted"})
    template = render(values, namespace=restricted).pod
    account = template["spec"]["serviceAccountName"]
    if account != "default":
        api.kubectl("create", "serviceaccount", account, "--namespace", restricted)
    else:
        # A controller's work elsewhere.
        api.kubectl("create", "serviceaccount", "default", "--namespace", restricted)
    pod = {"apiVersion": "v1", "kind": "Pod", **template, "metadata": {**template["metadata"], "name": "operator"}}

    api.kubectl("apply", "-f", "-", "--namespace", restricted, input=yaml.safe_dump(pod))

    assert _get(api, "pod", "operator", "--namespace", restricted)["spec"]["schedulerName"] == "default-scheduler"


def test_a_pod_that_is_not_restricted_would_have_been_refused(api: DevCluster, namespace: MakeNamespace) -> None:
    """What the test above rests on."""
    restricted = namespace(**{"pod-security.kubernetes.io/enforce": "restricted"})
    api.kubectl("create", "serviceaccount", "plimsoll", "--namespace", restricted)
    template = render({"containerSecurityContext": {"allowPrivilegeEscalation": True}}, namespace=restricted).pod
    pod = {"apiVersion": "v1", "kind": "Pod", **template, "metadata": {"name": "operator"}}

    with pytest.raises(KubectlError, match="allowPrivilegeEscalation"):
        api.kubectl("apply", "-f", "-", "--namespace", restricted, input=yaml.safe_dump(pod))


def test_install_upgrade_and_uninstall_keep_the_policies(api: DevCluster, namespace: MakeNamespace) -> None:
    policy = (
        "apiVersion: plimsoll.dev/v1alpha1\nkind: SchedulingPolicy\nmetadata: {name: kept}\n"
        "spec: {weights: {memory: 1}}\n"
    )
    there = ("--namespace", namespace())
    with _without_crd(api):
        said = api.helm("install", "plimsoll", str(CHART), *there)
        api.kubectl("wait", "--for=condition=Established", CRD, "--timeout=30s")
        api.kubectl("apply", "-f", "-", input=policy)
        assert "schedules the pods with `spec.schedulerName: plimsoll`" in said

        api.helm("upgrade", "plimsoll", str(CHART), *there, "--set", "replicaCount=3")
        assert _get(api, "deployment", "plimsoll", *there)["spec"]["replicas"] == 3

        api.helm("uninstall", "plimsoll", *there)
        assert "plimsoll" not in api.kubectl("get", "deployments,services,clusterroles", "-o", "name", *there)
        assert _get(api, "schedulingpolicy", "kept")["spec"]["weights"] == {"memory": 1}

        api.helm("install", "plimsoll", str(CHART), *there)
        assert _get(api, "schedulingpolicy", "kept")["spec"]["weights"] == {"memory": 1}
        api.helm("uninstall", "plimsoll", *there)
        api.kubectl("delete", "schedulingpolicy", "kept")


def test_an_upgrade_brings_the_crds_new_fields(api: DevCluster, namespace: MakeNamespace, tmp_path: Path) -> None:
    """What a chart's `crds/` folder would not do."""
    there = ("--namespace", namespace())
    older = _copy_with_older_crd(tmp_path / "plimsoll")
    with _without_crd(api):
        api.helm("install", "plimsoll", str(older), *there)
        assert "deviceName" not in _spec_fields(api)

        api.helm("upgrade", "plimsoll", str(CHART), *there)
        assert "deviceName" in _spec_fields(api)
        api.helm("uninstall", "plimsoll", *there)


def _copy_with_older_crd(folder: Path) -> Path:
    shutil.copytree(CHART, folder)
    (file,) = (folder / "files" / "crds").iterdir()
    crd = yaml.safe_load(file.read_text())
    spec = _spec_schema(crd)
    del spec["properties"]["deviceName"]
    # They speak of the field.
    del spec["x-kubernetes-validations"]
    file.write_text(yaml.safe_dump(crd))
    return folder


def _spec_schema(crd: Any) -> Any:
    return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]


def _spec_fields(api: DevCluster) -> Any:
    return _spec_schema(_get(api, CRD))["properties"]


def test_two_releases_live_side_by_side(api: DevCluster, namespace: MakeNamespace) -> None:
    first, second = ("--namespace", namespace()), ("--namespace", namespace())
    beside = ("--set", "crds.enabled=false", "--set", "schedulerName=second")
    with _without_crd(api):
        api.helm("install", "plimsoll", str(CHART), *first)
        api.helm("install", "plimsoll", str(CHART), *second, *beside)
        api.helm("install", "other", str(CHART), *first, "--set", "crds.enabled=false", "--set", "schedulerName=third")

        api.helm("uninstall", "plimsoll", *second)
        for name in ("plimsoll", "other-plimsoll"):
            assert _get(api, "deployment", name, *first)["spec"]["replicas"] == 2
        api.helm("uninstall", "other", *first)
        api.helm("uninstall", "plimsoll", *first)


async def test_the_account_may_do_what_the_operator_needs_and_no_more(
    api: DevCluster, namespace: MakeNamespace, tmp_path: Path
) -> None:
    name = namespace()
    manifests = render({"crds": {"enabled": False}}, namespace=name).text
    api.kubectl("apply", "-f", "-", input=manifests)
    kubeconfig = api.service_account_kubeconfig(name, "plimsoll", tmp_path / "kubeconfig")
    needed = (*ALWAYS, *lease_permissions(namespace=name, name="plimsoll"))
    beyond = (
        Permission("get", SECRETS, namespace=name),
        Permission("create", PODS),
        Permission("update", POLICIES),
        Permission("patch", NODES),
        Permission("update", LEASES, namespace=name, name="of-somebody-else"),
        Permission("create", LEASES, namespace="kube-system"),
    )

    async with ApiClient(Connection(ClusterAccess(kubeconfig=str(kubeconfig)))) as client:
        assert await missing(client, needed) == []
        assert await missing(client, beyond) == list(beyond)
    api.kubectl("delete", "-f", "-", input=manifests)


def test_what_the_notes_tell_to_run_works(api: DevCluster, namespace: MakeNamespace) -> None:
    """The commands as they stand there, but for those that need a running operator."""
    name = namespace()
    there = ("--namespace", name)
    with _without_crd(api):
        said = api.helm("install", "plimsoll", str(CHART), *there)
        api.kubectl("wait", "--for=condition=Established", CRD, "--timeout=30s")
        lines = [line.removeprefix("     ") for line in said.splitlines() if line.startswith("     ")]
        waits = ("kubectl -n", "plimsoll explain")
        script = "\n".join(line for line in lines if not line.startswith(waits))
        path = f"{binaries.ensure('kubectl').parent}{os.pathsep}{os.environ['PATH']}"
        context = _kubeconfig_of(api, name)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            env={"PATH": path, "KUBECONFIG": context, "HOME": str(api.directory)},
            capture_output=True,
            text=True,
            check=False,
        )

        assert done.returncode == 0, done.stderr
        assert "schedulingpolicy.plimsoll.dev/memory-first created" in done.stdout
        web = _get(api, "deployment", "web", *there)
        assert web["spec"]["template"]["spec"]["schedulerName"] == "plimsoll"
        api.helm("uninstall", "plimsoll", *there)
        api.kubectl("delete", "schedulingpolicy", "memory-first")


def _kubeconfig_of(api: DevCluster, namespace: str) -> str:
    config = yaml.safe_load(api.kubeconfig.read_text())
    for context in config["contexts"]:
        context["context"]["namespace"] = namespace
    path = api.directory / f"{namespace}.kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return str(path)


def test_the_crd_applied_by_hand_is_taken_over(api: DevCluster, namespace: MakeNamespace) -> None:
    """As the README says."""
    there = ("--namespace", namespace())
    with _without_crd(api):
        api.kubectl("apply", "--server-side", "-f", str(REPOSITORY / "crds"))

        api.helm("install", "plimsoll", str(CHART), *there, "--take-ownership", "--force-conflicts")

        assert _get(api, CRD)["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
        api.helm("uninstall", "plimsoll", *there)
