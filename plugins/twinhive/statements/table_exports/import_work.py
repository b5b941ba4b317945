"""Where an import works, and who else does: what lies there is taken back only when whoever put it there has ended.

Imports of other partitions into the same table may run at the same time. Each has a directory of work of its own beside
the table, with a lease in it that it holds as long as it runs. The same statement takes the lease over, so that another
try follows one that was killed. Another statement leaves what is placed by one that may live, and takes back what one
has left that was cut off.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from twinhive.core.directory_marks.directories import MARKER, Mark, Owned, Purpose, proven
from twinhive.core.model.errors import ActNow, LeaseHeld, LeaseLost
from twinhive.core.model.files import base_name, directory_around, join, short_hash
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.names import TableName
from twinhive.core.ports import FileReader, FileWriter, Lease, LeaseKeeper, children, if_there
from twinhive.statements.table_exports.table_tree import claim_work, is_work

_PLACED = "placing.json"
_LEASE = "lease"
_OVER = "-over"
Placed = Mapping[str, int]
"""Ids of directories that are, or will be, renamed to their places, by their names in the export."""
TakeBack = Callable[[str, Placed], bool]
"""Takes directories back, into a directory of the work of whoever has placed them.

False where some of it shows: then whoever has placed it has to go on with the rest.
"""


@dataclass(frozen=True)
class ImportWork:
    """The directory of work of one import; `statement` tells it from others into the same table."""

    table: TableName
    location: str
    statement: str

    @property
    def directory(self) -> str:
        """Beside the table's directory, so that renames show what is in it."""
        return f"{self._of_the_table}{short_hash(self.statement)}"

    @property
    def mark(self) -> Mark:
        """What the directory bears."""
        return Mark(Purpose.IMPORT, str(self.table))

    @contextmanager
    def under_way(
        self, files: FileWriter, leases: LeaseKeeper, holder: Mapping[str, str]
    ) -> Iterator[tuple[Owned, Lease]]:
        """Be seen to import, for the length of the context; what was worked with is removed at its good end.

        So it is when the import was refused before it had begun. Raises LeaseLost when the same statement was run
        again, or another import took this one for dead, before all was done.
        """
        left = proven(files, self._aside(self.directory), self.mark, is_work)
        if left is not None and files.status(self.directory) is None:
            # Cut off before it was removed: what it says of what was placed is needed again.
            left.move_aside(self.directory)
        owned = claim_work(files, self.directory, self.mark)
        over: Owned | None = None
        is_done = False
        try:
            with leases.hold(_lease_in(self.directory), holder, LeaseKind.STATEMENT) as lease:
                try:
                    yield owned, lease
                except ActNow:
                    if {base_name(child.path) for child in children(files, self.directory)} <= {_LEASE, MARKER}:
                        over = self._ended(owned, lease)
                    raise
                is_done = True
                over = self._ended(owned, lease)
        except LeaseLost:
            if not is_done:
                raise
        finally:
            if over is not None:
                over.discard()

    def others(
        self, files: FileWriter, leases: LeaseKeeper, holder: Mapping[str, str], take_back: TakeBack
    ) -> set[int]:
        """Take back what other imports into the table have left; return the ids of what living ones have placed."""
        living: set[int] = set()
        for child in children(files, directory_around(self.location)):
            path = child.path
            if not path.startswith(self._of_the_table) or path == self.directory:
                continue
            owned = proven(files, path, self.mark, is_work)
            if owned is not None and not self._is_over(owned, leases, holder, take_back):
                living.update(*(placed.values() for _, placed in placed_in(files, path)))
        return living

    def _is_over(self, owned: Owned, leases: LeaseKeeper, holder: Mapping[str, str], take_back: TakeBack) -> bool:
        lease_in = _lease_in(owned.directory)
        if leases.is_held(lease_in):
            return False
        over = owned
        if not owned.directory.endswith(_OVER):
            try:
                with leases.hold(lease_in, holder, LeaseKind.HOUSEKEEPING) as lease:
                    found = [take_back(*one) for one in placed_in(owned.files, owned.directory)]
                    if not all(found):
                        return True
                    over = self._ended(owned, lease)
            except (LeaseHeld, LeaseLost):
                return False
        over.discard()
        return True

    def _ended(self, owned: Owned, lease: Lease) -> Owned:
        """Move a directory of work aside: who takes its lease next begins in a new one. Raises LeaseLost."""
        aside = self._aside(owned.directory)
        if (left := proven(owned.files, aside, self.mark, is_work)) is not None:
            left.discard()
        lease.confirm()
        over = owned.move_aside(aside)
        try:
            lease.confirm()
        except LeaseLost:
            if over is not None:
                over.move_aside(owned.directory)
            raise
        return over or owned

    @staticmethod
    def _aside(directory: str) -> str:
        return f"{directory}{_OVER}"

    @property
    def _of_the_table(self) -> str:
        return join(directory_around(self.location), f".twinhive-import-{short_hash(str(self.table))}-")


def placed_in(files: FileReader, work: str) -> Iterator[tuple[str, Placed]]:
    """Yield each directory in an import's work that says what was placed from it, and that."""
    for child in children(files, work):
        if child.is_directory and (placed := read_placed(files, child.path)):
            yield child.path, placed


def read_placed(files: FileReader, place: str) -> Placed:
    """Return what was placed, or is about to be, from a tree; nothing where it is not built yet."""
    content = if_there(files.read, join(place, _PLACED))
    return {} if content is None else dict(json.loads(content))


def write_placed(files: FileWriter, place: str, placed: Placed) -> None:
    """Write down what is placed, before the first is: directories keep their ids."""
    files.write(join(place, _PLACED), json.dumps(placed).encode())


def _lease_in(directory: str) -> str:
    return join(directory, _LEASE)
