"""Show how far a copy has come: a bar on a terminal, a line from time to time anywhere else."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich import progress as bars
from rich.console import Console
from rich.markup import escape

from twinhive.core.model.printable import printable
from twinhive.transfer.engine.progress import CopyProgress
from twinhive.transfer.tree.executing import StartCounting


class _Bar:
    """Count files and bytes on a bar of the terminal; a copy of empty files alone is measured in files."""

    def __init__(self, shown: bars.Progress, files: int, length: int) -> None:
        self._shown = shown
        self._files = files
        self._by_bytes = length > 0
        self._done_files = 0
        self._task = shown.add_task("", total=length if self._by_bytes else files, files=f"0 of {files:,} files")
        shown.start()

    def moved(self, count: int) -> None:
        """Count bytes of a file that is being copied."""
        if self._by_bytes:
            self._shown.advance(self._task, count)

    def done(self, length: int) -> None:
        """Count one more file, copied or not, whose bytes were counted before."""
        self._done_files += 1
        self._shown.update(self._task, files=f"{self._done_files:,} of {self._files:,} files")
        if not self._by_bytes:
            self._shown.advance(self._task)

    def skipped(self, length: int) -> None:
        """Count one more file that need not be copied."""
        self.moved(length)
        self.done(length)


@contextmanager
def progress_on(console: Console) -> Iterator[StartCounting]:
    """Give what starts counting, with the files and bytes to come; the bar goes at the end."""
    if not console.is_terminal:
        yield lambda files, length: CopyProgress(
            files, length, lambda line: console.print(escape(printable(line)), highlight=False, soft_wrap=True)
        )
        return
    columns = (
        bars.TextColumn("{task.fields[files]}"),
        bars.BarColumn(),
        bars.DownloadColumn(),
        bars.TransferSpeedColumn(),
        bars.TimeRemainingColumn(),
    )
    shown = bars.Progress(*columns, console=console, transient=True)
    try:
        yield lambda files, length: _Bar(shown, files, length)
    finally:
        shown.stop()
