"""A progress bar with the time left, on the standard error, and only on a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

Told = Callable[[int, int], None]


@contextlib.contextmanager
def progress_bar(label: str) -> Iterator[Told]:
    """Yields what is called with how many more are done, of how many."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(label, total=None)

        def told(done: int, total: int) -> None:
            progress.update(task, advance=done, total=total)

        yield told
