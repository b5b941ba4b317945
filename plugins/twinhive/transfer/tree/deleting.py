"""Take away at the target what the source does not have: into the target's own trash, or for good.

The trash keeps `<trash>/<time of the run>/<relative path>`, so that one rename brings anything back.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

from twinhive.core.model.errors import Missing, Refused, TwinhiveError
from twinhive.core.model.files import FileStatus, base_name
from twinhive.core.ports import FileWriter, children, rename_or_make
from twinhive.core.threads.parallel_stream import in_parallel
from twinhive.transfer.engine.copy_retries import Patience, twice
from twinhive.transfer.tree.failures import Failures
from twinhive.transfer.tree.request import Deletes, SyncOptions
from twinhive.transfer.tree.tally import Tally
from twinhive.transfer.tree.tree_actions import FileAction
from twinhive.transfer.tree.work_directories import Places

_STAMP = "%Y%m%dT%H%M%SZ"


@dataclass
class Deleted:
    """What was taken away, with all below it, and what could not be."""

    tally: Tally = field(default_factory=Tally)
    failures: Failures = field(default_factory=Failures)

    def merge(self, other: "Deleted") -> None:
        """Add what another thread has taken away."""
        self.tally += other.tally
        self.failures.merge(other.failures)


class Deleter:
    """Delete topmost paths, each by one call; may be shared between threads. `stamp` names the run in the trash."""

    def __init__(self, target: FileWriter, places: Places, options: SyncOptions, stamp: str) -> None:
        self._target = target
        self._places = places
        self._for_good = options.delete is Deletes.PERMANENTLY
        self._trash = places.trash(stamp)
        self._patience = Patience()

    def delete_all(self, actions: Iterable[FileAction], threads: int) -> Deleted:
        """Delete what the actions name; one that fails does not keep the others from being tried."""
        total = Deleted()
        for part in in_parallel(actions, threads, self._work, "delete"):
            total.merge(part)
        return total

    def aside(self, action: FileAction) -> str:
        """Return where a path is moved to while another takes its place: the trash, or out of sight."""
        trash = f"{self._places.work}/replaced" if self._for_good else self._trash
        return f"{trash}/{action.relative}"

    def forget(self, aside: str) -> None:
        """Delete for good what was moved out of sight; what is in the trash stays."""
        if self._for_good:
            self._target.delete(aside)

    def size_of(self, status: FileStatus) -> Tally:
        """Return what is at a path and below it, nothing when it is gone."""
        if not status.is_directory:
            return Tally(files=1, bytes=status.length)
        try:
            usage = self._target.usage(status.path)
        except Missing:
            return Tally()
        return Tally(usage.files, usage.directories + 1, usage.length)

    def _work(self, actions: Iterator[FileAction]) -> Deleted:
        deleted = Deleted()
        for action in actions:
            assert action.target is not None
            try:
                deleted.tally += self._patience.run(partial(twice, partial(self._delete, action)))
            except TwinhiveError as error:
                there = action.target
                deleted.failures.add(there.path, error, there.length, is_directory=there.is_directory)
        return deleted

    def _delete(self, action: FileAction) -> Tally:
        assert action.target is not None
        size = self.size_of(action.target)
        path = self._places.final(action.relative)
        if self._for_good:
            self._target.delete(path)
        else:
            put_away(self._target, path, f"{self._trash}/{action.relative}")
        return size


def put_away(target: FileWriter, path: str, place: str) -> None:
    """Rename a path to a place whose directory is made when missing; a path that is gone is fine. Raises Refused."""
    if not rename_or_make(target, path, place) and target.status(path) is not None:
        raise Refused(
            f"{path}: it cannot be moved to {place}",
            found="something is there already",
            expected="a free place in the trash",
            next_step=f"look at {place}, move it elsewhere, run again",
        )


def fresh_stamp(target: FileWriter, places: Places, now: datetime) -> str:
    """Return a name for this run's trash that no run before it has used, also within one second."""
    used = set(_stamps(target, places))
    stamp = now.astimezone(UTC).strftime(_STAMP)
    names = (stamp if number == 1 else f"{stamp}-{number}" for number in range(1, len(used) + 2))
    return next(name for name in names if name not in used)


def purge_trash(target: FileWriter, places: Places, days: float, now: datetime) -> int:
    """Delete for good what has been in the trash for more days than that; return how many runs' trash it was."""
    old = [stamp for stamp in _stamps(target, places) if _is_before(stamp, now - timedelta(days=days))]
    for stamp in old:
        target.delete(places.trash(stamp))
    return len(old)


def _stamps(target: FileWriter, places: Places) -> list[str]:
    return [base_name(child.path) for child in children(target, places.trash())]


def _is_before(stamp: str, moment: datetime) -> bool:
    try:
        made = datetime.strptime(stamp.partition("-")[0], _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return False  # not ours
    return made < moment
