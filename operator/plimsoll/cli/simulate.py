"""``plimsoll simulate``: how well pods would have been placed, offline, on recorded load."""

from __future__ import annotations

import os
from pathlib import Path

import click

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_WRITTEN = click.Path(dir_okay=False, writable=True, path_type=Path)


class _Stopped(click.ClickException):
    """Nothing was judged: told apart from a gate that fails."""

    exit_code = 2


@click.command()
@click.option("--usage", type=_FILE, help="Load of machines over time, as docs/quality.md describes; with --vms.")
@click.option("--vms", type=_FILE, help="What the machines of --usage are, as CSV.")
@click.option("--arrivals", type=_FILE, help="Pods of a recorded cluster, as CSV, for scenarios that ask for them.")
@click.option("--nodes", type=_FILE, help="Nodes of a recorded cluster, as CSV, for scenarios that ask for them.")
@click.option("--scenario", "scenarios", default="services", show_default=True, metavar="NAME[,NAME]", help="Or: all.")
@click.option(
    "--policies",
    default="ours,kube,koordinator,random",
    show_default=True,
    metavar="NAME[,NAME]",
    help="Who places the pods. Or: all.",
)
@click.option("--list", "listed", is_flag=True, help="Say which scenarios and policies there are.")
@click.option("--policy", type=_FILE, help="The SchedulingPolicy that ours places by, instead of the default one.")
@click.option("--baseline", metavar="NAME", help="Whom the others are compared with.  [default: kube]")
@click.option("--seeds", type=click.IntRange(min=1), default=24, show_default=True, help="How many worlds.")
@click.option("--first-seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--processes", type=click.IntRange(min=1), help="Side by side.  [default: as many as there are cores]")
@click.option("--resume", type=_WRITTEN, help="Keep results in this file, and go on from what it holds.")
@click.option("--gate", is_flag=True, help="Hold ours to what it promises.")
@click.option("--json", "json_file", type=_WRITTEN, help="Write scorecards and comparisons here.")
@click.option("--html", "html_file", type=_WRITTEN, help="Write tables and plots here, as one page.")
def simulate(
    *,
    usage: Path | None,
    vms: Path | None,
    arrivals: Path | None,
    nodes: Path | None,
    scenarios: str,
    policies: str,
    listed: bool,
    policy: Path | None,
    baseline: str | None,
    seeds: int,
    first_seed: int,
    processes: int | None,
    resume: Path | None,
    gate: bool,
    json_file: Path | None,
    html_file: Path | None,
) -> None:
    """Replay recorded load under schedulers, and compare them seed by seed.

    Each policy places the same pods on the same nodes; ours is this very scheduler. Without --usage load is generated.

    The exit status is 0 when all is done; 1 where --gate fails or cannot be decided; 2 where what was given is wrong
    or replays cannot go on; 130 when interrupted and 143 when terminated, with what was done by then shown and kept.
    """
    from plimsoll.cli.simulate_files import check_outputs
    from plimsoll.cli.simulate_options import (
        baseline_of,
        check_gate,
        check_ours,
        check_plots,
        contenders_of,
        left_out,
        makes_of,
        scenarios_of,
    )
    from plimsoll.cli.simulate_policy import given_policy
    from plimsoll.cli.simulating import Wanted, show_list, simulated
    from plimsoll.errors import PlimsollError
    from plimsoll.sim.inputs import Inputs
    from plimsoll.sim.running import Bench
    from plimsoll.sim.scenarios import SCENARIOS

    if listed:
        show_list()
        return
    if (usage is None) != (vms is None):
        raise click.UsageError("--usage and --vms belong together: give both, or neither to have load generated")
    try:
        inputs = Inputs(usage, vms, arrivals, nodes)
        contenders = contenders_of(policies)
        if gate:
            check_gate(contenders)
        if html_file:
            check_plots()
        if policy:
            check_ours(contenders)
        check_outputs(
            read={"--usage": usage, "--vms": vms, "--arrivals": arrivals, "--nodes": nodes, "--policy": policy},
            written={"--resume": resume, "--json": json_file, "--html": html_file},
        )
        given = given_policy(policy) if policy else None
        wanted = Wanted(
            inputs=inputs,
            bench=Bench(inputs.load, SCENARIOS, makes_of(contenders, given.policy if given else None)),
            scenarios=scenarios_of(scenarios, inputs),
            contenders=contenders,
            baseline=baseline_of(baseline, contenders),
            seeds=range(first_seed, first_seed + seeds),
            processes=processes or os.cpu_count() or 1,
            policy=given,
            remarks=left_out(scenarios, inputs),
            gate=gate,
            resume=resume,
            json_file=json_file,
            html_file=html_file,
        )
        code = simulated(wanted)
    except PlimsollError as error:
        raise _Stopped(str(error)) from error
    raise SystemExit(code)
