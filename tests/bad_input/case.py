"""Say what a case of bad input is: what is wrong, what is typed, and what the answer has to be."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.bad_input.desk import Desk

USAGE, TRY_AGAIN, ACT_NOW = 2, 3, 4


def as_it_is(desk: Desk) -> None:
    """Change nothing before the command."""


@dataclass(frozen=True)
class Case:
    """One thing that a person, or a cluster, has got wrong.

    says     what the error has to say, all of it
    words    what is typed then
    spoil    makes it wrong, before
    code     the exit code
    follows  the replica of `sales` is published before
    rule     the rule of a schema or of a command line that is broken; '' where the code shows it
    """

    name: str
    words: tuple[str, ...]
    says: tuple[str, ...]
    spoil: Callable[[Desk], None] = as_it_is
    code: int = ACT_NOW
    follows: bool = False
    rule: str = ""

    def __str__(self) -> str:
        return self.name
