"""Compares Plimsoll's verdicts with kube-scheduler's on random clusters: ``python -m tests.oracle``."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from typing import Any

from tests.oracle.judging import Judge
from tests.oracle.mutating import mutate
from tests.oracle.reasons import missed
from tests.oracle.running import Run, run, shrink_and_keep

Json = dict[str, Any]
# Of the preemptions at least so large a share must have one outcome only; a few cases say nothing about it.
_DETERMINED, _FEW = 0.8, 100


def main() -> int:
    asked = _arguments()
    print(f"seed {asked.seed}", flush=True)
    with Judge() as judge:

        def verdicts(items: Sequence[Json], *, runs: int) -> list[Json]:
            return judge.judge(items, preempt=True, scores=True, runs=runs)

        if asked.mutate:
            return mutate(verdicts, seed=asked.seed, pods=asked.pods)
        begun = time.monotonic()
        done = run(
            verdicts,
            pods=asked.pods,
            seed=asked.seed,
            stop_after=asked.stop_after,
            nominations=asked.nominations,
            scored=asked.scored,
        )
        _report(done, time.monotonic() - begun)
        for seed, found in done.found:
            print(f"DISAGREEMENT with seed {seed}: {found}", flush=True)
        for seed, found in done.found[: asked.shrink]:
            print(f"smallest cluster: {shrink_and_keep(verdicts, seed, found)}", flush=True)
    rare = missed(done.counts.reasons, pods=done.counts.pods)
    for reason, count in rare.items():
        print(f"MET TOO RARELY ({count} times): {reason}")
    if by_chance := done.counts.nominated > _FEW and done.counts.deterministic < _DETERMINED * done.counts.nominated:
        print("TOO OFTEN BY CHANCE: where kube-scheduler's choice of victims varies, there is nothing to compare with")
    return 1 if done.found or rare or by_chance else 0


def _report(done: Run, took_s: float) -> None:
    for line in done.counts.lines():
        print(line)
    print(f"{len(done.found)} clusters with disagreements; {took_s:.0f} s", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("--pods", type=int, default=20_000, help="how many pod-in-cluster cases")
    parser.add_argument("--nominations", type=int, default=0, help="and go on until preemption nominated in so many")
    parser.add_argument("--scored", type=int, default=0, help="and until scores told nodes apart in so many")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9), help="fresh by default")
    parser.add_argument("--stop-after", type=int, default=1, help="so many clusters with disagreements")
    parser.add_argument("--shrink", type=int, default=1, help="of the disagreements, so many are shrunk and kept")
    parser.add_argument(
        "--mutate", action="store_true", help="instead: does the comparison notice a filter that passes all?"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
