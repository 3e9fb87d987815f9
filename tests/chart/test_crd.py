"""The chart carries the CRD that the models describe."""

from __future__ import annotations

import pytest
import yaml

from tests.chart.chart import CHART, REPOSITORY, Rendered, render

CRDS = REPOSITORY / "crds"
COPIES = CHART / "files" / "crds"


def test_the_charts_copy_is_the_generated_crd_byte_by_byte():
    generated = {path.name: path.read_bytes() for path in CRDS.glob("*.yaml")}
    copied = {path.name: path.read_bytes() for path in COPIES.iterdir()}

    assert generated
    assert copied == generated, "run `make crds`"


def test_helm_does_not_find_it_where_it_would_never_upgrade_it():
    assert not (CHART / "crds").exists()


@pytest.mark.cluster
def test_rendering_adds_labels_and_leaves_the_rest_as_it_is():
    (source,) = (yaml.safe_load(path.read_text()) for path in CRDS.glob("*.yaml"))
    rendered = render().one("CustomResourceDefinition")
    metadata = rendered.pop("metadata")

    assert rendered == {key: value for key, value in source.items() if key != "metadata"}
    assert metadata["name"] == source["metadata"]["name"]
    assert metadata["labels"]["app.kubernetes.io/name"] == "plimsoll"


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("crds", "want"),
    [
        pytest.param({}, [True], id="kept by default"),
        pytest.param({"keep": False}, [False], id="not kept if so wished"),
        pytest.param({"enabled": False}, [], id="not installed if so wished"),
    ],
)
def test_whether_it_is_installed_and_kept_is_up_to_the_user(crds, want):
    assert [_kept(crd) for crd in _crds(render({"crds": crds}))] == want


def _crds(rendered: Rendered):
    return rendered.all("CustomResourceDefinition")


def _kept(crd):
    return crd["metadata"].get("annotations", {}).get("helm.sh/resource-policy") == "keep"
