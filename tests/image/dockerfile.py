"""What a Dockerfile says: stages of instructions. Enough of the syntax for our own."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

DOCKERFILE = Path(__file__).parents[2] / "Dockerfile"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; `value` is all behind the keyword, with continued lines joined."""

    keyword: str
    value: str

    @property
    def words(self) -> list[str]:
        return shlex.split(self.value)

    @property
    def pairs(self) -> dict[str, str]:
        """Of ENV, LABEL and ARG; an ARG without a default is empty."""
        return {key: value for key, _, value in (word.partition("=") for word in self.words)}

    @property
    def exec_form(self) -> list[str]:
        """Of ENTRYPOINT and CMD, which are JSON here: no shell stands between signals and the operator."""
        words = json.loads(self.value)
        assert isinstance(words, list)
        return words


@dataclass(frozen=True, slots=True)
class Stage:
    """From one FROM to the next."""

    name: str
    base: str
    instructions: tuple[Instruction, ...]

    def all(self, keyword: str) -> list[Instruction]:
        return [found for found in self.instructions if found.keyword == keyword]

    def last(self, keyword: str) -> Instruction:
        """The one that counts, where each replaces the one before."""
        return self.all(keyword)[-1]


@dataclass(frozen=True, slots=True)
class Dockerfile:
    """ARGs before the first FROM, and the stages with those filled in."""

    arguments: Mapping[str, str]
    stages: tuple[Stage, ...]

    def stage(self, name: str) -> Stage:
        return next(stage for stage in self.stages if stage.name == name)

    @property
    def final(self) -> Stage:
        return self.stages[-1]


def read(path: Path = DOCKERFILE) -> Dockerfile:
    return parse(path.read_text())


def parse(text: str) -> Dockerfile:
    """A Dockerfile from its text."""
    arguments: dict[str, str] = {}
    stages: list[tuple[str, str, list[Instruction]]] = []
    for instruction in _instructions(text):
        if instruction.keyword == "FROM":
            base, name = _from(instruction)
            stages.append((name, Template(base).substitute(arguments), []))
        elif stages:
            stages[-1][2].append(instruction)
        else:
            arguments |= instruction.pairs
    return Dockerfile(arguments, tuple(Stage(name, base, tuple(found)) for name, base, found in stages))


def _instructions(text: str) -> Iterator[Instruction]:
    lines = (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
        keyword, _, value = line.strip().partition(" ")
        yield Instruction(keyword.upper(), value.strip())


def _from(instruction: Instruction) -> tuple[str, str]:
    base, *alias = instruction.value.split()
    return base, alias[1] if alias else ""
