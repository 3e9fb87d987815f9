"""values.yaml, its schema and the README's table say the same, and typing errors are told."""

from __future__ import annotations

import copy
import json

import pytest
import yaml
from tests.chart.chart import CHART, VALUES_FILES, HelmFailed, default_values, render
from tests.chart.values_table import README, VALUES, Row, rows, with_table

SCHEMA = json.loads((CHART / "values.schema.json").read_text())


def _groups(values, prefix=()):
    """Paths of the maps whose keys the schema lists."""
    for key, value in values.items():
        if isinstance(value, dict) and "properties" in _schema_at((*prefix, key)):
            yield (*prefix, key)
            yield from _groups(value, (*prefix, key))


def _schema_at(path):
    schema = SCHEMA
    for key in path:
        schema = _resolved(schema["properties"].get(key, {}))
    return schema


def _resolved(schema):
    return SCHEMA["definitions"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _at(values, path):
    for key in path:
        values = values[key]
    return values


GROUPS = list(_groups(default_values()))
CLOSED = [path for path in GROUPS if path != ("global",)]


def test_the_readmes_table_is_the_one_of_values_yaml():
    readme = README.read_text()

    assert readme == with_table(readme, VALUES.read_text()), "run `python -m tests.chart.values_table`"


def test_every_value_is_explained():
    assert [row.path for row in rows(VALUES.read_text()) if not row.text] == []


def test_the_schema_knows_every_value_and_no_other():
    known = set(SCHEMA["properties"]) - {"enabled"}

    assert known == set(default_values())
    for path in CLOSED:
        keys, allowed = set(_at(default_values(), path)), set(_schema_at(path)["properties"])
        # What the cluster's API defines is completed by the API: the defaults need not show all of it.
        assert keys == allowed or path[0] in {"resources", "startupProbe", "livenessProbe", "readinessProbe", "affinity"}
        assert keys <= allowed


@pytest.mark.parametrize("path", CLOSED, ids=".".join)
def test_a_typing_error_in_a_nested_key_is_refused_with_its_place(path):
    values = _nested(path, {"enabeld": True})

    with pytest.raises(HelmFailed, match=f"at '/{'/'.join(path)}'.*'enabeld' not allowed"):
        render(values)


def test_a_typing_error_in_a_key_at_the_root_is_refused():
    with pytest.raises(HelmFailed, match="'replicas' not allowed"):
        render({"replicas": 3})


def test_a_parent_chart_may_share_globals_and_switch_the_chart_on():
    values = {"enabled": True, "global": {"storageClass": "fast", "other": {"nested": 1}}}

    assert render(values).names == render().names


@pytest.mark.parametrize(
    ("values", "place"),
    [
        pytest.param({"replicaCount": "2"}, "/replicaCount", id="a number as text"),
        pytest.param({"replicaCount": -1}, "/replicaCount", id="fewer than none"),
        pytest.param({"schedulerName": "default-scheduler"}, "/schedulerName", id="the cluster's own scheduler"),
        pytest.param({"schedulerName": "By_Load"}, "/schedulerName", id="a name that no Lease can have"),
        pytest.param({"schedulerName": "a..b"}, "/schedulerName", id="an empty part of a name"),
        pytest.param({"image": {"digest": "sha256:abc"}}, "/image/digest", id="half a digest"),
        pytest.param({"image": {"pullPolicy": "always"}}, "/image/pullPolicy", id="a small letter"),
        pytest.param({"fullnameOverride": "x" * 55}, "/fullnameOverride", id="no room for suffixes"),
        pytest.param({"podLabels": {"a": 1}}, "/podLabels/a", id="a label that is no text"),
        pytest.param({"networkPolicy": {"apiServerPorts": [0]}}, "/networkPolicy/apiServerPorts/0", id="port 0"),
        pytest.param({"podDisruptionBudget": {"minAvailable": "half"}}, "/podDisruptionBudget", id="no percentage"),
        pytest.param({"serviceMonitor": {"interval": "30"}}, "/serviceMonitor/interval", id="time without a unit"),
        pytest.param({"log": {"level": "trace"}}, "/log/level", id="a level that there is not"),
        pytest.param({"global": {"imageRegistry": 5}}, "/global/imageRegistry", id="a global of ours"),
        pytest.param({"imagePullSecrets": ["login"]}, "/imagePullSecrets/0", id="a secret without `name:`"),
    ],
)
def test_values_that_cannot_work_are_refused_with_their_place(values, place):
    with pytest.raises(HelmFailed, match=f"at '{place}"):
        render(values)


@pytest.mark.parametrize("values", VALUES_FILES, ids=lambda path: path.stem)
def test_the_values_of_the_tests_satisfy_the_schema(values):
    assert render(values).one("Deployment")


def test_every_value_is_changed_by_some_values_file():
    """So that the matrix of values reaches every branch of the templates."""
    changed = {path for file in VALUES_FILES for path in _leaves(yaml.safe_load(file.read_text()))}
    missing = {row.path for row in rows(VALUES.read_text()) if not any(_covers(path, row.path) for path in changed)}

    assert missing <= {"namespaceOverride", "image.registry", "podSecurityContext", "containerSecurityContext"}


def test_a_comment_of_several_lines_is_one_row_and_covers_what_is_below():
    text = "# not this\n\n# -- One\n# two.\na:\n  b: 1\nc:\n  # -- Three.\n  d: []\n  e: x\n"

    assert rows(text) == [
        Row("a", {"b": 1}, "One two."),
        Row("c.d", [], "Three."),
        Row("c.e", "x", ""),
    ]


def _nested(path, value):
    for key in reversed(path):
        value = {key: copy.deepcopy(value)}
    return value


def _leaves(values, prefix=""):
    for key, value in values.items():
        yield f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{key}.")


def _covers(changed, row):
    return changed == row or changed.startswith(f"{row}.")
