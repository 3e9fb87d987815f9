"""The check of the simulator: the scene on a live control plane and in the simulator; about five minutes for each play.

    .venv/bin/python -m benchmarks.quality.live_check [--plays 3] [--json FILE]

The exit code is 0 if each node's count lies within the range of the seeds, in every play.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.quality.live_check import live
from benchmarks.quality.live_check.check import check, compared
from benchmarks.quality.live_check.errors import LiveCheckError
from benchmarks.quality.live_check.scene import SCENE
from benchmarks.quality.live_check.section import section
from devcluster import DevClusterError
from plimsoll.sim.report.markdown import put_between_markers

_ROOT = Path(__file__).resolve().parents[3]
_KEPT, _DOCUMENT = _ROOT / "benchmarks" / "quality" / "scorecards" / "live-check.json", _ROOT / "docs" / "quality.md"


def main() -> int:
    options = _options()
    try:
        print("simulating", flush=True)
        comparison = compared(SCENE)
        plays = [_play() for _ in range(options.plays)]
        result = check(SCENE, comparison, plays)
    except (LiveCheckError, DevClusterError) as error:
        print(f"\nthe check could not be made: {error}", file=sys.stderr)
        return 2
    write(result, options.json)
    print(f"\n{section(result)}\n\nwritten to {options.json}")
    return 0 if result["holds"] else 1


def write(result: dict[str, Any], path: Path) -> None:
    """What is kept in the repository is shown by its documentation, too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result) + "\n", encoding="utf-8")
    if path == _KEPT:
        filled = put_between_markers(_DOCUMENT.read_text(encoding="utf-8"), "live-check", f"{section(result)}\n")
        _DOCUMENT.write_text(filled, encoding="utf-8")


def _play() -> live.Live:
    with tempfile.TemporaryDirectory(prefix="live-check-") as folder:
        return live.play(SCENE, directory=Path(folder), say=lambda sentence: print(sentence, flush=True))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.live_check", description=__doc__)
    parser.add_argument("--plays", type=int, default=1, help="how often the scene is played live (default: 1)")
    parser.add_argument("--json", type=Path, default=_KEPT, help="where the result goes (default: %(default)s)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
