"""Fold what belongs together in a task's log; what on-call has to see stays outside."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from twinhive.core.model.human_readable import Say
from twinhive.core.model.printable import printable
from twinhive.core.model.text import Text, render
from twinhive.core.step.step_base import Detail


class FoldedLog:
    """Take a step's lines: details are folded under what they are details of, all others are said as they are."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._open = ""
        self._one_line = threading.Lock()

    def __call__(self, line: Text) -> None:
        with self._one_line:
            self._fold_under(line.of if isinstance(line, Detail) else "")
            self._say(printable(render(line)))

    def _fold_under(self, title: str) -> None:
        if title == self._open:
            return
        if self._open:
            self._say("::endgroup::")
        if title:
            self._say(f"::group::{title}")
        self._open = title

    def __enter__(self) -> "FoldedLog":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._one_line:
            self._fold_under("")


@contextmanager
def folded(say: Say, title: str) -> Iterator[None]:
    """Fold all that is logged inside, whoever says it."""
    say(f"::group::{title}")
    try:
        yield
    finally:
        say("::endgroup::")
