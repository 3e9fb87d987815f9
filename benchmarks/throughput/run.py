"""One run: a fresh control plane, one contender, one case."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import itertools
import shutil
from dataclasses import replace
from pathlib import Path

from benchmarks.throughput import bodies
from benchmarks.throughput.admin import Admin, connected
from benchmarks.throughput.case import Case
from benchmarks.throughput.contenders import PLIMSOLL, Contender
from benchmarks.throughput.creating import create_all, key
from benchmarks.throughput.exposition import count, requests
from benchmarks.throughput.fingerprint import fingerprint, flags, harness
from benchmarks.throughput.inside import of_metrics
from benchmarks.throughput.launching import launch
from benchmarks.throughput.observing import observing, write_names
from benchmarks.throughput.place import Place, fresh
from benchmarks.throughput.playing import Playing
from benchmarks.throughput.prometheus import policy_in_force
from benchmarks.throughput.rates import Figures, of_binds, of_events, of_waits, per_second
from benchmarks.throughput.result import RunResult
from benchmarks.throughput.scheduler import NAME, running
from benchmarks.throughput.spending import API_SERVER, ETCD, SCHEDULER, Spending
from benchmarks.throughput.stamps import Stamps
from benchmarks.throughput.usage import usage
from benchmarks.throughput.versions import versions
from benchmarks.throughput.workload import Thing
from benchmarks.throughput.workloads import WORKLOADS

# What creating thousands of objects leaves behind in the API server is over by then.
_SETTLE_S = 3.0
# The API server counts what it has answered a moment after it did, and watches are faster than that.
_COUNTED_S = 1.0
_API_SERVER = "kube-apiserver"


def planned(case: Case, contender: Contender, pair: int) -> RunResult:
    """The run that is to be made here, without what comes out."""
    return RunResult(
        case=case.name,
        contender=contender.name,
        pair=pair,
        fingerprint=fingerprint(WORKLOADS[case.workload]),
        harness=harness(),
        flags=flags(contender),
        parameters=case.parameters(),
        configuration=None if contender.configuration is None else dict(contender.configuration),
        expected=case.pods - WORKLOADS[case.workload].left(case.pods),
        versions=versions(),
    )


def run(case: Case, contender: Contender, plan: RunResult, *, directory: Path) -> RunResult:
    """Args:
    plan: see ``planned``.
    directory: of the control plane; its logs stay there until the next run, those of schedulers beside it.
    """
    began = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    with fresh(directory) as place:
        try:
            result = asyncio.run(_run(place, case, contender, plan))
        finally:
            _keep_log(place, plan, directory.parent / "logs")
        commands = {
            SCHEDULER: " ".join(contender.command),
            **{name: place.command(name) for name in (_API_SERVER, ETCD)},
        }
    return replace(result, began=began, commands=commands)


def log_name(plan: RunResult) -> str:
    """A case may be called by its rate, "pods/s"."""
    return f"{plan.case} {plan.contender} {plan.pair}.log".replace(" ", "-").replace("/", "-per-")


def _keep_log(place: Place, plan: RunResult, folder: Path) -> None:
    log = place.log(NAME)
    if log.exists():
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(log, folder / log_name(plan))


async def _run(place: Place, case: Case, contender: Contender, plan: RunResult) -> RunResult:
    async with contextlib.AsyncExitStack() as stack:
        admin = await stack.enter_async_context(connected(place.server, place.tls()))
        warm, pods = await _prepare(admin, case, contender)
        if contender.name == PLIMSOLL:
            await stack.enter_async_context(policy_in_force(place, case, admin))
        names = _names(place, plan, warm, pods)
        observer = await stack.enter_async_context(observing(place, names))
        before = await admin.text("/metrics")
        scheduler = await stack.enter_async_context(running(place, launch(contender, place, names)))
        spending = Spending(
            {
                SCHEDULER: scheduler.usage,
                API_SERVER: lambda: usage(place.pid(_API_SERVER)),
                ETCD: lambda: usage(place.pid("etcd")),
            }
        )
        playing = Playing(case, contender, admin, observer, scheduler, spending, warm, pods)
        await playing.play()
        if not case.seconds:
            await asyncio.sleep(_COUNTED_S)
        asked = requests(before, await admin.text("/metrics"))
        inside = of_metrics(await scheduler.metrics())
        stamps = await observer.end()
    told = _told(plan, playing, stamps).with_figures(inside).with_figures(_of_requests(asked, pods=len(stamps.bound_s)))
    return replace(told, requests=asked)


async def _prepare(admin: Admin, case: Case, contender: Contender) -> tuple[list[Thing], list[Thing]]:
    """The pods that warm up and those that are measured; both exist already where the scheduler is to find them."""
    await create_all(admin, itertools.chain(bodies.installation(), bodies.there(case)))
    warm, pods = bodies.measured(case, contender.scheduler)
    if not case.mode.warm:
        await create_all(admin, pods)
    await asyncio.sleep(_SETTLE_S)
    return warm, pods


def _names(place: Place, plan: RunResult, warm: list[Thing], pods: list[Thing]) -> Path:
    path = place.folder / "names.json"
    write_names(path, warm=map(key, warm), measured=map(key, pods), expected=plan.expected)
    return path


def _of_requests(asked: dict[str, int], *, pods: int) -> Figures:
    written = count(asked, verb="POST", resource="events", code="201") + count(asked, verb="PATCH", resource="events")
    others = sum(asked.values()) - count(asked, verb="WATCH") - count(asked, verb="POST", resource="pods")
    return {"events_written": written, **({"requests_per_pod": others / pods} if pods else {})}


def _told(result: RunResult, playing: Playing, stamps: Stamps) -> RunResult:
    case = playing.case
    # What came while the harness asked its last questions has no part in what was used until then.
    bound_s = sorted(at_s for at_s in stamps.bound_s.values() if at_s <= playing.ended_s)
    told_s = sorted(at_s for at_s in stamps.told_s.values() if at_s <= playing.ended_s)
    started_s = None if case.mode.warm else playing.scheduler.started_s
    figures: Figures = of_binds(bound_s, seconds=case.seconds, expected=result.expected, started_s=started_s)
    figures |= playing.spending.figures(pods=len(bound_s))
    if playing.contender.events:
        figures |= of_events(bound_s, told_s, ended_s=playing.ended_s)
    figures["observer_restarts"] = stamps.restarts
    if case.mode.warm:
        left = case.pods - result.expected
        figures |= of_waits(playing.sent_s, stamps.bound_s, ended_s=playing.ended_s, left=left)
    elif bound_s:
        figures["first_bind_s"] = bound_s[0] - playing.scheduler.started_s
        figures["last_bind_s"] = bound_s[-1] - playing.scheduler.started_s
    began_s = bound_s[0] if bound_s else 0.0
    return replace(
        result,
        unfinished=playing.unfinished,
        figures=figures,
        binds=per_second(bound_s, began_s),
        events=per_second(told_s, began_s),
    )
