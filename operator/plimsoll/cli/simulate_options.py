"""Options of ``plimsoll simulate``, checked before anything is replayed."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable

from plimsoll.cli.choosing import chosen, names_all
from plimsoll.errors import InvalidInput
from plimsoll.policy.compiled import Policy
from plimsoll.sim.contenders.interface import Make
from plimsoll.sim.contenders.registry import CONTENDERS, ours
from plimsoll.sim.gate import CONTENDERS as JUDGED
from plimsoll.sim.gate import KUBE, OURS
from plimsoll.sim.inputs import Inputs
from plimsoll.sim.scenarios import SCENARIOS


def scenarios_of(given: str, inputs: Inputs) -> tuple[str, ...]:
    """With ``all``, those that the files are there for.

    Raises:
        InvalidInput: there is no such scenario, or it needs a file.
    """
    names = chosen(given, SCENARIOS, what="scenario")
    lacking = _lacking(names, inputs)
    if names_all(given):
        return tuple(name for name in names if name not in lacking)
    for name, options in lacking.items():
        raise InvalidInput(f"the scenario {name} is of a recorded cluster: give {options}")
    return names


def left_out(given: str, inputs: Inputs) -> tuple[str, ...]:
    """A sentence on what ``all`` leaves out, if it does."""
    lacking = _lacking(SCENARIOS, inputs) if names_all(given) else {}
    if not lacking:
        return ()
    mends = ", ".join(f"{name} (give {options})" for name, options in lacking.items())
    return (f"Left out, for want of what was recorded in a cluster: {mends}.",)


def _lacking(names: Iterable[str], inputs: Inputs) -> dict[str, str]:
    """Scenarios that need more files, with the options that name them."""
    needed = {name: [f"--{option} FILE" for option in sorted(inputs.lacking(SCENARIOS[name]))] for name in names}
    return {name: " and ".join(options) for name, options in needed.items() if options}


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


def check_ours(contenders: tuple[str, ...]) -> None:
    """Raises:
    InvalidInput: a policy is given, and nobody is to place by it.
    """
    if not any(name == OURS or name.startswith(f"{OURS}-") for name in contenders):
        raise InvalidInput(f"--policy is what {OURS} places by: add {OURS} to --policies")


def makes_of(contenders: tuple[str, ...], policy: Policy | None) -> dict[str, Make]:
    """Args:
    policy: that ours places by; None: its own.
    """
    entries = CONTENDERS if policy is None else {**CONTENDERS, **ours(policy)}
    return {name: entries[name].make for name in contenders}
