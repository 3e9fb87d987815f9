"""values.yaml, its schema and the README's table say the same."""

from __future__ import annotations

from functools import reduce

import pytest
import yaml

from tests.chart.chart import VALUES_FILES, default_values
from tests.chart.schema import SCHEMA, closed_groups, schema_at
from tests.chart.values_table import README, VALUES, Row, rows, with_table

# The cluster's API defines what is in them; the defaults need not show all of it.
_COMPLETED_BY_THE_API = {"resources", "startupProbe", "livenessProbe", "readinessProbe", "affinity"}
# Said by the tests in their own words instead of by a file of values.
_TRIED_ELSEWHERE = {"namespaceOverride", "image.registry", "podSecurityContext", "containerSecurityContext"}


def test_the_readmes_table_is_the_one_of_values_yaml():
    readme = README.read_text()

    assert readme == with_table(readme, VALUES.read_text()), "run `python -m tests.chart.values_table`"


def test_every_value_is_explained():
    assert [row.path for row in rows(VALUES.read_text()) if not row.text] == []


def test_the_schema_knows_every_value_and_no_other():
    # A parent chart's condition arrives with the values.
    assert set(SCHEMA["properties"]) == set(default_values()) | {"enabled"}


@pytest.mark.parametrize("path", closed_groups(), ids=".".join)
def test_the_schema_knows_every_value_of_a_group_and_no_other(path):
    keys = set(reduce(lambda values, key: values[key], path, default_values()))
    allowed = set(schema_at(path)["properties"])

    assert schema_at(path)["additionalProperties"] is False
    assert keys <= allowed
    assert keys == allowed or path[0] in _COMPLETED_BY_THE_API


def test_every_value_is_changed_by_some_file_of_values():
    """So that the files reach every branch of the templates."""
    changed = {path for file in VALUES_FILES for path in _paths(yaml.safe_load(file.read_text()))}
    unchanged = {row.path for row in rows(VALUES.read_text())} - changed

    assert unchanged <= _TRIED_ELSEWHERE


def test_a_comment_of_several_lines_is_one_row_and_covers_what_is_below():
    text = "# not this\n\n# -- One\n# two.\na:\n  b: 1\nc:\n  # -- Three.\n  d: []\n  e: x\n"

    assert rows(text) == [
        Row("a", {"b": 1}, "One two."),
        Row("c.d", [], "Three."),
        Row("c.e", "x", ""),
    ]


def _paths(values, prefix=""):
    for key, value in values.items():
        yield f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _paths(value, f"{prefix}{key}.")
