"""What a run leaves undone rather than stop for ever: it is said, and done by a later run."""

from collections.abc import Iterator
from contextlib import contextmanager

from twinhive.core.model.errors import Unexplained, may_pass
from twinhive.core.step.step_base import Work


@contextmanager
def left_after_last_try(work: Work, what: str) -> Iterator[None]:
    """Do inside what the next run can do as well. Raises an answer that nobody knows before the last try only."""
    try:
        yield
    except Unexplained as error:
        if may_pass(error, is_last_try=work.is_last_try):
            raise
        work.report(f"{what}, the next run does it: " + error.text)
