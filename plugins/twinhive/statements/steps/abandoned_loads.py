"""Remove staging directories of replicas of statements that are no more: of loads that were given up.

A directory's name says its replica. It is needed while the database of that name is there and bears this very name as
its mark, in the middle of a load, of a window or following (external tables that wait and notes of the scan are in it
too); or while Hive has written the database's position last, which our first load is about to take over. Else only a
load that is under way needs it: one that still copies, before there is a database.

Safe, because a load holds a lease of this directory as long as it runs (`load_under_way`), and who removes takes that
lease first, from nobody who may live. Under it the database is looked at again, then the directory goes aside by one
rename. If the lease is still ours then, nobody has begun before the rename, and who begins later begins in a new
directory. If it is not, the directory goes back. One that cannot go back any more is a leftover that no load finds:
what was staged in it is copied again.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from twinhive.core.directory_marks.staging import staging_of
from twinhive.core.model.errors import LeaseHeld, LeaseLost, TwinhiveError
from twinhive.core.model.files import FileStatus, base_name, join, parent
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import POLICY
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import DatabaseAddress
from twinhive.core.model.text import Reader, render
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Detail, Work
from twinhive.statements.steps.load_lease import under_way_in
from twinhive.statements.steps.repl_names import replica_name, replica_named
from twinhive.statements.steps.take_over import is_of_hive

_REMOVING = "_removing-"
_KEPT = "Staging directories that are kept"


@dataclass(frozen=True)
class StagingCleaner:
    """Remove what is older than `ttl_seconds` at `now` (epoch seconds) beside the staging directory of a load."""

    work: Work
    ttl_seconds: float
    now: float

    def run(self, ports: WritePorts) -> list[str]:
        """Return the directories that were removed, as they were called. What cannot be removed is reported."""
        removed = []
        for directory, replica in self._old(ports):
            try:
                if _is_needed(ports.replica.database(replica.database), replica):
                    continue
                if self._remove(ports, directory, replica):
                    self._say("Removed staging directories", f"removed, nobody loads into {replica}: {directory}")
                    removed.append(directory)
            except TwinhiveError as error:
                self._say(_KEPT, f"kept: {render(error.what, Reader.STATEMENTS)}")
        return removed

    def _old(self, ports: WritePorts) -> Iterator[tuple[str, DatabaseAddress]]:
        """Yield the other replicas' directories in which nothing has changed for so long."""
        policy = self.work.policy
        named: dict[str, DatabaseAddress] = {}
        ((_, there),) = ports.replica_files.list_directories([policy.staging_root])
        tops = {child.path: child for child in there or () if child.is_directory and child.path != policy.staging}
        for path in tops:
            name = base_name(path).removeprefix(_REMOVING)
            if replica := replica_named(name, policy.replica.cluster):
                named[path] = replica
        for path, children in ports.replica_files.list_directories(list(named)):
            if _changed_at([tops[path], *(children or ())]) < self.now - self.ttl_seconds:
                yield path, named[path]

    def _remove(self, ports: WritePorts, directory: str, replica: DatabaseAddress) -> bool:
        root, name = parent(directory), replica_name(replica)
        was, aside, lease_in = join(root, name), join(root, _REMOVING + name), under_way_in(directory)
        owned = staging_of(ports.replica_files, directory, name)
        if owned is None:
            self._say(_KEPT, f"kept, nothing says that we have made it: {directory}")
            return False
        if ports.trees.lease.is_held(lease_in):
            raise LeaseHeld(
                f"{lease_in}: the lease is held by a process that may still be running",
                found="a load that is under way, or was killed within the last minutes",
                expected="a load that has ended",
                next_step="wait until it has ended; its next run goes on with it",
            )
        going = None if directory == was else owned
        try:
            with ports.trees.lease.hold(lease_in, self.work.holder, LeaseKind.HOUSEKEEPING) as lease:
                if directory == was and _is_needed(ports.replica.database(replica.database), replica):
                    return False
                going = going or owned.move_aside(aside)
                if going is None:
                    return False
                lease.confirm()
        except LeaseLost:
            if going is not None:
                going.move_aside(was)
            return False
        going.take_away()
        return True

    def _say(self, title: str, line: str) -> None:
        self.work.report(Detail(title, line))


def _changed_at(statuses: list[FileStatus]) -> float:
    return max(status.modified_ms for status in statuses) / 1000


def _is_needed(database: Database | None, replica: DatabaseAddress) -> bool:
    if database is None:
        return False
    return database.parameters.get(POLICY) == replica_name(replica) or is_of_hive(database)
