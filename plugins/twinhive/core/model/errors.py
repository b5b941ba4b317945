"""What went wrong, with which object, and what to do next.

There are two families above the adapters, and nothing else: `TryAgain` (the same call may
succeed later: a retry is right) and `ActNow` (a person must change something first: a retry
only wastes the night). Which failures are tried again is said by `may_pass` alone: of `ActNow`
those that are `Unexplained`, where whoever repeats work has tries left.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

from twinhive.core.model.printable import printable
from twinhive.core.model.text import Reader, Retry, Text, commands_of, render, text_of


@dataclass(frozen=True)
class ErrorWords:
    """What an error says, in the words of its reader; `commands` can each be copied and run as they stand."""

    what: str
    found: str | None
    expected: str | None
    next_step: str | None
    commands: tuple[str, ...]


class TwinhiveError(Exception):
    """Carry what failed, what was found, what was expected, and the next step.

    `what` names the object. `next_step` is a command or an action that exists. Whoever shows the error says whom for:
    `reader`.
    """

    def __init__(
        self,
        what: Text,
        *,
        found: object = None,
        expected: object = None,
        next_step: Text | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.found = None if found is None else text_of(found)
        self.expected = None if expected is None else text_of(expected)
        self.next_step = next_step
        self.reader = Reader.POLICIES
        self.policy = ""
        """Whom it was met with, as far as that is known (`about`)."""
        self.may_still_happen = False
        """Beside it, a call of ours got no answer, and may still take effect."""

    def in_a_terminal(self) -> Self:
        """Let it be for who has run a command, unless somebody has said already whom it is for; return it."""
        if self.reader is Reader.POLICIES:
            self.reader = Reader.COMMANDS
        return self

    @property
    def words(self) -> ErrorWords:
        """All that it says, for its reader, in parts."""
        others = (self.found, self.expected, self.next_step)
        found, expected, next_step = (None if part is None else self._rendered(part) for part in others)
        return ErrorWords(self._rendered(self.what), found, expected, next_step, self.commands)

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that it names, each as it can be run; in an error made of several, those of all."""
        parts = (part for part in (self.next_step, self.what) if part is not None)
        found = (command for part in parts for command in commands_of(part, self.reader, self.policy))
        return tuple(dict.fromkeys(found))

    @property
    def text(self) -> Text:
        """All that it says, in several lines."""
        text = self.what
        if self.found is not None:
            text += "\n  found:    " + self.found
        if self.expected is not None:
            text += "\n  expected: " + self.expected
        if self.next_step is not None:
            text += "\n  next:     " + self.next_step
        return text

    def __str__(self) -> str:
        return printable(self._rendered(self.text))

    def _rendered(self, text: Text) -> str:
        return render(text, self.reader, self.policy)


@contextmanager
def about(policy: str) -> Iterator[None]:
    """Let the errors of what happens inside name the policy where they say what to do next."""
    try:
        yield
    except TwinhiveError as error:
        error.policy = error.policy or policy
        raise


class TryAgain(TwinhiveError):
    """The same work may succeed later; Airflow retries it."""


class ActNow(TwinhiveError):
    """A person must act first; Airflow does not retry it."""


class Promoted(ActNow):
    """The replica has taken over from its source: nothing may be brought into it."""


class Unreachable(TryAgain):
    """A server did not answer in time, or closed the connection."""


class Unwell(Unreachable):
    """A server answered that it, or what it needs, cannot do anything now: that is no refusal of the request."""


class SafeMode(TryAgain):
    """The file system answers but refuses writes because it is in safe mode."""


class SourceMoved(TryAgain):
    """The source changed under a listing or a copy; a new listing is needed."""


class LeaseLost(TryAgain):
    """Another task has taken over the policy's lease; this one must not write any more."""


class LeaseHeld(TryAgain):
    """Another kind of work holds the lease, and is not to be overtaken."""


class TableMoving(TryAgain):
    """A statement would write a table whose primary is being moved: it may when that has ended."""


class ChangedMeanwhile(TryAgain):
    """An object is not what it was when it was last read: somebody else has changed it."""


class Missing(ActNow):
    """An object that must be there is not."""


class SourceGone(Missing):
    """A file that was listed at the source is not there any more."""


class AlreadyThere(ActNow):
    """An object that must not be there is."""


class DumpReplaced(ActNow):
    """Another run has planned anew what a task works on: the task cannot go on, a run that begins with its plan can."""


class LogBroken(ActNow):
    """A notification log does not go on from where it was read: events are gone, are there twice, or are others."""


class Refused(ActNow):
    """A server understood the request and refused it (permission, quota, invalid object)."""


class Unexplained(Refused):
    """A server that is well gave an answer of which nobody knows whether it is a refusal.

    It is held for one, but before a person is asked, the work is tried again as often as anything that may pass.
    """


class UnreadableObject(Refused):
    """A server's answer holds an object that cannot be read: of several, they are asked for one by one."""


class Foreign(ActNow):
    """An object on the replica does not carry this policy's mark; it is not touched."""


class InvalidSettings(ActNow):
    """A policy, a cluster or a trigger form holds something that cannot be used."""


class UnknownConnection(InvalidSettings):
    """A connection is not there, as far as whoever was asked knows."""


class LostFile(ActNow):
    """None of the places where an event's file may be holds its content."""


class CopyWasSwept(TryAgain):
    """A copy, or the directory for it, is gone from staging, and its source is there: another run has cleaned up.

    Of a part of a copy another run may have taken it, or be writing it.
    """


class CopyDiffers(TryAgain):
    """A copied file does not equal its source."""


def may_pass(error: BaseException, *, is_last_try: bool = False) -> bool:
    """Tell whether the same work may succeed without anybody's help; after the last try a person is asked."""
    return isinstance(error, TryAgain) or (isinstance(error, Unexplained) and not is_last_try)


def refused_as(error: ActNow, what: Text, *, found: object, expected: object, next_step: Text) -> Refused:
    """Tell a refusal in other words. An answer that nobody knows stays one: another try comes before the next step."""
    if isinstance(error, Unexplained):
        again = Retry() + ". If it goes on, " + next_step
        return Unexplained(what, found=found, expected=expected, next_step=again)
    return Refused(what, found=found, expected=expected, next_step=next_step)


def family_of(errors: Iterable[BaseException]) -> type["TwinhiveError"]:
    """Return what one error must be that stands for several: a person's turn comes before a repetition's."""
    there = list(errors)
    if all(isinstance(error, TryAgain) for error in there):
        return TryAgain
    return Unexplained if all(may_pass(error) for error in there) else ActNow


def raise_one(errors: Iterable[BaseException | None]) -> None:
    """Raise one of the errors that several threads have ended with, if there is any.

    An ActNow says that everybody has answered, so a lease is released for it: it hides none of the others, after
    which a call may still take effect.
    """
    there = [error for error in errors if error is not None]
    if there:
        raise min(there, key=lambda error: not ends_unknown(error))


def together(problems: Sequence[TwinhiveError], what: str, *, shown: int = 20) -> TwinhiveError:
    """Make one error of several, a single one as it is; only if all may pass by themselves is a retry right.

    It is of the nearest kind that all of them are, so who handles that kind handles it. The first `shown` are told; the
    log has the others.
    """
    if len(problems) == 1:
        return problems[0]
    nearest = _nearest_of(problems)
    family = family_of(problems) if nearest is TwinhiveError else nearest
    text: Text = what
    for number, problem in enumerate(problems[:shown], start=1):
        text += f"\n{number}. " + problem.text
    if len(problems) > shown:
        text += f"\nand {len(problems) - shown:,} more, in the log"
    error = family(text)
    error.may_still_happen = any(ends_unknown(problem) for problem in problems)
    return error


def _nearest_of(problems: Sequence[TwinhiveError]) -> type[TwinhiveError]:
    """Return the nearest class that errors have in common."""
    kinds = (kind for kind in type(problems[0]).__mro__ if issubclass(kind, TwinhiveError))
    return next(kind for kind in kinds if all(isinstance(problem, kind) for problem in problems))


def ends_unknown(error: BaseException) -> bool:
    """True for an error after which a call of ours may still take effect: anything but an answer."""
    return not isinstance(error, ActNow) or error.may_still_happen
