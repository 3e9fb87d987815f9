from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from pydantic import BaseModel

from plimsoll.cli.crds import crds
from plimsoll.policy.crd import FILE_NAME, custom_resource_definition, render
from plimsoll.policy.schema import structural_schema
from tests.crds.schema_fields import FIELDS, VERSION, rules

COMMITTED = Path(__file__).parents[2] / "crds" / FILE_NAME


def test_the_committed_file_is_what_the_models_say() -> None:
    assert COMMITTED.read_text() == render(), "run `make crds`"


def test_the_file_is_the_resource_itself() -> None:
    assert yaml.safe_load(render()) == custom_resource_definition()


def test_the_command_prints_the_file() -> None:
    assert CliRunner().invoke(crds).stdout == render()


def test_the_command_writes_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "crds"
    result = CliRunner().invoke(crds, ["--dir", str(folder)])
    assert result.exit_code == 0
    assert (folder / FILE_NAME).read_text() == render()


def test_a_folder_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(crds, ["--dir", str(tmp_path / "file" / "crds")])
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "choose another --dir" in result.stderr


def test_every_field_has_a_description() -> None:
    assert [path for path, part in FIELDS if not part.get("description")] == []


def test_every_text_list_and_map_has_a_bound() -> None:
    """The cost of rules is reckoned from the bounds, and the size of the object as well."""
    bounds = {"string": "maxLength", "array": "maxItems"}
    texts = [
        path
        for path, part in FIELDS
        if part.get("type") in bounds
        and bounds[part["type"]] not in part
        and "enum" not in part
        and part.get("format") != "date-time"
    ]
    maps = [path for path, part in FIELDS if "additionalProperties" in part and "maxProperties" not in part]
    assert (texts, maps) == ([], [])


def test_only_maps_allow_fields_of_any_name() -> None:
    maps = {path for path, part in FIELDS if "additionalProperties" in part}
    assert maps == {
        ".spec.podSelector.matchLabels",
        ".spec.namespaceSelector.matchLabels",
        ".spec.nodeSelector",
        ".spec.metricsSource.prometheus.headers",
        ".spec.metricsSource.prometheus.queryParameters",
        ".status.scores[].metrics",
    }
    assert not any("x-kubernetes-preserve-unknown-fields" in part for _, part in FIELDS)


def test_items_of_lists_have_no_defaults() -> None:
    """kubectl would send the list without them, and report a change at each apply."""
    assert [path for path, part in FIELDS if "[]" in path and "default" in part] == []


def test_every_rule_says_what_is_wrong_and_what_to_write() -> None:
    assert all(": " in rule["message"] and "\n" not in rule["message"] for rule in rules())


def test_columns_are_those_of_the_manual() -> None:
    columns = VERSION["additionalPrinterColumns"]
    plain = [c["name"] for c in columns if not c.get("priority")]
    assert plain == ["Source", "Mode", "Ready", "Nodes", "Best", "Score", "Bound", "Pending", "Age"]


def test_a_schema_word_without_equal_is_refused() -> None:
    class Tupled(BaseModel):
        pair: tuple[int, str]

    with pytest.raises(ValueError, match="prefixItems"):
        structural_schema(Tupled)
