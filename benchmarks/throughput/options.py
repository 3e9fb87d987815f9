"""The command line: the whole table, some cases of it, or a case of one's own."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from benchmarks.files import existing, writable
from benchmarks.numbers import count, no_less, positive, whole
from benchmarks.throughput.case import Case, Mode
from benchmarks.throughput.contenders import CONTENDERS
from benchmarks.throughput.table import BASIC, BOTH, NODES, PAIRS, WARM_PODS, cases
from benchmarks.throughput.workloads import WORKLOADS

_T = TypeVar("_T")

_ASSIGNED = 50_000
_BUILT = Path(__file__).resolve().parent.parent.parent / "build" / "throughput"


class _Help(argparse.RawDescriptionHelpFormatter):
    """The description as it is written, and the defaults that say something."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        told = isinstance(action.default, (int, float, Mode)) and not isinstance(action.default, bool)
        return f"{action.help or ''} (%(default)s)".strip() if told and action.default else action.help


def parsed(description: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description, formatter_class=_Help)
    table = parser.add_argument_group("the table of `make bench`")
    table.add_argument("--table", action="store_true", help="play all of it; the flags of one case have no effect")
    table.add_argument("--cases", type=_names, default=(), metavar="NAME,...", help="only these of it")
    _of_one_case(parser.add_argument_group("one case for each workload"))
    results = parser.add_argument_group("results")
    results.add_argument("--json", type=writable, metavar="OUT", help="the file with all runs")
    results.add_argument("--resume", action="store_true", help="make no run again that is in that file already")
    results.add_argument("--report-only", action="store_true", help="make no run; tell what is in that file")
    results.add_argument("--directory", type=Path, default=_BUILT, help="of the control plane, and of the logs")
    results.add_argument("--document", type=existing, help="put the tables where a Markdown file has a place for them")
    options = parser.parse_args()
    if options.json is None and (options.resume or options.report_only):
        parser.error("--resume and --report-only need a file: give it by --json")
    if options.json is not None and options.json.exists() and not (options.resume or options.report_only):
        parser.error(f"{options.json} is there already: go on with it by --resume, or name another file")
    return options


def chosen(options: argparse.Namespace) -> list[Case]:
    """Raises:
    SystemExit: there is no such case, workload or contender, or they do not go together.
    """
    found = list(_of_table(options) if options.table or options.cases else _own(options))
    for case in found:
        bare = [name for name in case.contenders if CONTENDERS[name].bare]
        if bare and case.mode.warm:
            raise SystemExit(f"error: {', '.join(bare)} binds what is there: give it another --mode than {case.mode}")
    return found


def _of_one_case(flags: argparse._ArgumentGroup) -> None:
    flags.add_argument(
        "--workloads", default=(BASIC,), type=_names, metavar="NAME,...", help=f"all, or: {', '.join(WORKLOADS)}"
    )
    flags.add_argument("--contenders", type=_names, default=BOTH, metavar="NAME,...", help=", ".join(CONTENDERS))
    flags.add_argument("--mode", default=Mode.BURST, type=Mode, choices=list(Mode))
    flags.add_argument("--pairs", type=count, default=PAIRS, help="of runs, one after the other")
    flags.add_argument("--nodes", type=count, default=NODES, help="of 16 cpu and 64Gi")
    flags.add_argument("--pods", type=count, default=10_000, help="that are measured")
    flags.add_argument("--rate", type=positive, default=200.0, help="pods per second; mode steady")
    flags.add_argument("--seconds", type=no_less, default=0.0, help="end the run so long after the first bind")
    flags.add_argument("--assigned", type=whole, default=None, help=f"pods that run already; {_ASSIGNED} in coldstart")
    flags.add_argument("--warm", type=whole, default=WARM_PODS, help="pods bound before; modes steady and arriving")
    flags.add_argument("--limit", type=positive, default=300.0, help="seconds after which a run is given up")


def _of_table(options: argparse.Namespace) -> Iterator[Case]:
    known = {case.name: case for case in cases()}
    return (_known(name, known, "case") for name in options.cases or known)


def _own(options: argparse.Namespace) -> Iterator[Case]:
    mode = options.mode
    for contender in options.contenders:
        _known(contender, CONTENDERS, "contender")
    for name in WORKLOADS if options.workloads == ("all",) else options.workloads:
        _known(name, WORKLOADS, "workload")
        assigned = _ASSIGNED if options.assigned is None and mode is Mode.COLDSTART else options.assigned or 0
        yield Case(
            name=f"{name} {mode}",
            workload=name,
            nodes=options.nodes,
            pods=options.pods,
            pairs=options.pairs,
            contenders=options.contenders,
            mode=mode,
            rate=options.rate if mode is Mode.STEADY else 0.0,
            seconds=options.seconds,
            assigned=assigned,
            warm=options.warm if mode.warm else 0,
            limit_s=options.limit,
        )


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(","))))


def _known(name: str, names: Mapping[str, _T], what: str) -> _T:
    if name not in names:
        raise SystemExit(f"error: there is no {what} {name!r}; there are: {', '.join(names)}")
    return names[name]
