"""Show how far a phase has come: a bar for the batches of each stage, on a terminal only."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich import progress as bars
from rich.console import Console, Group
from rich.live import Live

from twinhive.runtime.pipeline.runner import Watch, unwatched


@contextmanager
def phase_progress(console: Console, title: str) -> Iterator[Watch]:
    """Give what counts batches; what is shown goes at the end. Anywhere but on a terminal nothing is shown."""
    if not console.is_terminal:
        yield unwatched
        return
    phase = bars.Progress(bars.SpinnerColumn(), bars.TextColumn("{task.description}"), bars.TimeElapsedColumn())
    phase.add_task(title)
    stages = bars.Progress(bars.TextColumn("  {task.description}"), bars.BarColumn(), bars.MofNCompleteColumn())

    def watch(stage: str, batches: Sequence[Any]) -> Iterator[Any]:
        task = stages.add_task(f"{stage}, batches", total=len(batches), visible=bool(batches))
        for batch in batches:
            yield batch
            stages.advance(task)
        stages.remove_task(task)

    with Live(Group(phase, stages), console=console, transient=True):
        yield watch
