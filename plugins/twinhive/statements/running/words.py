"""Say what steps say as statements do: their texts have a wording for tasks of policies, and one for statements."""

from collections.abc import Iterator
from contextlib import contextmanager

from twinhive.model.errors import TwinhiveError
from twinhive.model.wording import Wording, said_for_statements
from twinhive.step.base import Report


@contextmanager
def in_words_of_statements() -> Iterator[None]:
    """Run a statement inside: what an error asks for is something that can be done with statements."""
    try:
        yield
    except TwinhiveError as error:
        error.what = said_for_statements(error.what)
        error.found, error.expected = _of_statement(error.found), _of_statement(error.expected)
        error.next_step = error.next_step and said_for_statements(error.next_step)
        raise


def telling(report: Report) -> Report:
    """Return who takes the lines of steps and tells them in the words of statements."""
    return lambda line: report(said_for_statements(line))


def _of_statement(said: object) -> object:
    return said.for_statements if isinstance(said, Wording) else said
