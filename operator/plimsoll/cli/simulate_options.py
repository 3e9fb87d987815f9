"""Options of ``plimsoll simulate``, checked before anything is replayed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from plimsoll.cli.choosing import chosen
from plimsoll.cli.reading_files import read_items
from plimsoll.errors import InvalidInput
from plimsoll.policy.compile import compile_policy
from plimsoll.sim.contenders.interface import Make
from plimsoll.sim.contenders.registry import CONTENDERS, ours
from plimsoll.sim.gate import CONTENDERS as JUDGED
from plimsoll.sim.gate import KUBE
from plimsoll.sim.inputs import Inputs
from plimsoll.sim.scenarios import SCENARIOS

_ALL = "all"
_KIND = "SchedulingPolicy"


def scenarios_of(given: str, inputs: Inputs) -> tuple[str, ...]:
    """With ``all``, those that the files are there for.

    Raises:
        InvalidInput: there is no such scenario, or it needs a file.
    """
    names = chosen(given, SCENARIOS, what="scenario")
    lacking = {name: sorted(inputs.lacking(SCENARIOS[name])) for name in names}
    if given == _ALL:
        return tuple(name for name in names if not lacking[name])
    for name in names:
        if lacking[name]:
            options = " and ".join(f"--{option} FILE" for option in lacking[name])
            raise InvalidInput(f"the scenario {name} is of a recorded cluster: give {options}")
    return names


def contenders_of(given: str) -> tuple[str, ...]:
    """Raises:
    InvalidInput: there is no such policy.
    """
    return chosen(given, CONTENDERS, what="policy")


def baseline_of(given: str | None, contenders: tuple[str, ...]) -> str:
    """kube-scheduler, if nothing is given and it is there; else the last of them.

    Raises:
        InvalidInput: it is not one of the contenders.
    """
    if given is None:
        return KUBE if KUBE in contenders else contenders[-1]
    if given not in contenders:
        raise InvalidInput(f"the baseline {given} is not among the policies: add it to --policies")
    return given


def check_gate(contenders: tuple[str, ...]) -> None:
    """Raises:
    InvalidInput: whom ours is held against is not replayed.
    """
    missing = [name for name in JUDGED if name not in contenders]
    if missing:
        raise InvalidInput(f"--gate holds ours against others: add {','.join(missing)} to --policies")


def check_plots() -> None:
    """Raises:
    InvalidInput: before hours of replays, not after them.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise InvalidInput("--html draws with matplotlib: pip install 'plimsoll-scheduler[simulate]'")


def check_writable(path: Path) -> None:
    """Raises:
    InvalidInput: as above.
    """
    if not path.parent.is_dir():
        raise InvalidInput(f"cannot write {path}: there is no folder {path.parent}")


def makes_of(contenders: tuple[str, ...], policy: Path | None) -> dict[str, Make]:
    """Raises:
    InvalidInput: the policy's file cannot be read, or cannot be put in force.
    """
    entries = CONTENDERS if policy is None else {**CONTENDERS, **ours(compile_policy(_manifest(policy)))}
    return {name: entries[name].make for name in contenders}


def _manifest(path: Path) -> dict[str, object]:
    found = [item for item in read_items(str(path)) if item.get("kind") == _KIND]
    if len(found) != 1:
        raise InvalidInput(f"{path} holds {len(found)} objects of kind {_KIND}: it should hold one")
    return found[0]
