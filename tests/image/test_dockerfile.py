"""What the Dockerfile promises, and what else in the repository says the same."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import plimsoll
from tests.image.dockerfile import Dockerfile, Instruction, parse, read
from tests.image.identity import NUMBER

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def dockerfile() -> Dockerfile:
    return read()


def test_it_starts_the_operator_without_a_shell_between(dockerfile):
    assert dockerfile.final.last("ENTRYPOINT").exec_form == ["plimsoll"]
    assert dockerfile.final.last("CMD").exec_form == ["run"]


def test_it_runs_as_the_number_that_the_chart_asks_for(dockerfile):
    values = yaml.safe_load((REPOSITORY / "helm/plimsoll/values.yaml").read_text())
    security = values["podSecurityContext"]

    assert dockerfile.final.last("USER").value == f"{security['runAsUser']}:{security['runAsGroup']}"
    assert security["runAsUser"] == NUMBER


def test_both_stages_have_the_same_python_at_the_same_place(dockerfile):
    assert dockerfile.final.base == dockerfile.stage("build").base


def test_its_python_is_one_that_the_project_supports(dockerfile):
    required = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["requires-python"]
    version = re.search(r"python:(\d+)\.(\d+)-slim", dockerfile.final.base)

    assert version is not None
    assert required == ">=3.11"
    assert tuple(map(int, version.groups())) >= (3, 11)


def test_every_base_can_be_named_by_digest_from_outside(dockerfile):
    bases = {stage.base for stage in dockerfile.stages}

    assert bases == set(dockerfile.arguments.values())


def test_its_uv_is_the_one_of_the_lock_file(dockerfile):
    packages = tomllib.loads((REPOSITORY / "uv.lock").read_text())["package"]
    locked = next(package["version"] for package in packages if package["name"] == "uv")

    assert dockerfile.arguments["UV_IMAGE"].endswith(f"/uv:{locked}")


def test_its_version_is_the_packages(dockerfile):
    versions = [found.pairs["VERSION"] for found in dockerfile.final.all("ARG") if "VERSION" in found.pairs]

    assert versions == [plimsoll.__version__]


def test_it_installs_from_the_lock_file_without_what_developers_need(dockerfile):
    installs = [found.words for found in dockerfile.stage("build").all("RUN")]

    assert installs
    for words in installs:
        assert words[:2] == ["uv", "sync"]
        assert {"--locked", "--no-dev", "--no-editable"} < set(words)


def test_the_final_stage_has_nothing_but_the_environment(dockerfile):
    copied = [found.value for found in dockerfile.final.all("COPY")]

    assert copied == ["--from=build /opt/plimsoll /opt/plimsoll"]
    assert not dockerfile.final.all("RUN")


def test_the_build_context_has_what_is_copied_and_nothing_else(dockerfile):
    copies = [found.words[:-1] for found in dockerfile.stage("build").all("COPY")]
    copied = {source for sources in copies if not sources[0].startswith("--") for source in sources}
    ignore = (REPOSITORY / ".dockerignore").read_text().splitlines()

    assert "*" in ignore
    assert {line.removeprefix("!") for line in ignore if line.startswith("!")} == copied


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("RUN one \\\n    two", Instruction("RUN", "one two"), id="a continued line is one"),
        pytest.param("RUN one \\\n # why\n two", Instruction("RUN", "one two"), id="a comment may stand inside"),
        pytest.param("run one", Instruction("RUN", "one"), id="keywords may be small"),
    ],
)
def test_instructions_are_read_as_docker_reads_them(text, want):
    assert parse(f"FROM base\n{text}\n").final.instructions == (want,)


def test_arguments_are_filled_into_the_bases():
    found = parse("ARG BASE=python:3\nFROM ${BASE} AS build\nFROM $BASE\nENV A=1 B='2 3'\n")

    assert [(stage.name, stage.base) for stage in found.stages] == [("build", "python:3"), ("", "python:3")]
    assert found.final.last("ENV").pairs == {"A": "1", "B": "2 3"}
