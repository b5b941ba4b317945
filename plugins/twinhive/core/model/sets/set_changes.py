"""Decide which sets a replica shows: what the source says is done, less what has to be held (seed 003)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from twinhive.core.model.sets.set_mark import SetMark, kept_seconds
from twinhive.core.model.text import Text


@dataclass(frozen=True)
class SetChanges:
    """The marks that a replica does not show as the source has them, and those that it shows and the source has not."""

    show: tuple[SetMark, ...]
    hide: tuple[SetMark, ...]


@dataclass(frozen=True)
class HeldSet:
    """A set that is done at the source, and is not shown: `why`, and what brings it on."""

    mark: SetMark
    why: str
    next_step: Text


def set_changes(
    done: Iterable[SetMark], shown: Iterable[SetMark], is_current: Callable[[SetMark], bool], now: float
) -> SetChanges:
    """Compare the source's sets with the replica's; what somebody else has marked on the replica is left alone.

    `is_current` tells whether a shown mark is of the replica's table as it is: not of one that was replaced since.
    """
    there = {mark.name: mark for mark in shown}
    wanted = {mark.name: mark for mark in done}
    return SetChanges(
        tuple(mark for name, mark in sorted(wanted.items()) if not _is_shown(mark, there.get(name), is_current)),
        tuple(
            mark
            for name, mark in sorted(there.items())
            if name not in wanted and mark.shown is not None and _may_go(mark, mark.shown, now)
        ),
    )


def _is_shown(mark: SetMark, there: SetMark | None, is_current: Callable[[SetMark], bool]) -> bool:
    if there is None:
        return False
    if there.shown is None:
        return True
    same = (there.marked, there.count, there.token) == (mark.marked, mark.count, mark.token)
    return same and is_current(there)


def is_marked_anew(shown: SetMark, mark: SetMark) -> bool:
    """True for a mark of the source that was taken away since the replica has shown it, and made again.

    What was marked again meanwhile, without that, keeps the tokens that came before.
    """
    if shown.shown is None:
        return False
    if shown.token is not None:
        return not mark.knows(shown.token)
    return (shown.marked, shown.count) != (mark.marked, mark.count)


def _may_go(mark: SetMark, shown: int, now: float) -> bool:
    """True unless the source took it away for its age: a late replica keeps it as long, from when it showed it."""
    seconds = kept_seconds(mark.keep) if mark.keep else None
    if seconds is None or mark.marked + seconds > now:
        return True
    return shown + seconds <= now
