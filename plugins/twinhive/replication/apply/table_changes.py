"""Apply what happens to whole tables and views, and to the rows of unpartitioned ones."""

from typing import Any

from twinhive.core.model.changes.contents import SourceFile
from twinhive.core.model.changes.kinds import AlterTable, CreateTable, DropTable, Event
from twinhive.core.model.errors import ActNow
from twinhive.core.model.marks import STAMP
from twinhive.core.model.names import TableName
from twinhive.core.model.next_steps import resync
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear, Exclude
from twinhive.replication.apply.actions import Edit, EditTable, Rows
from twinhive.replication.apply.apply_progress import Progress
from twinhive.replication.apply.metadata_calls import alter_table, create_table, drop_table, remove_table
from twinhive.replication.apply.target import Target
from twinhive.replication.replica.replica_locations import table_directory, without_statistics_claim


class TableChanges:
    """Create, alter, rename, drop tables; append to, replace and truncate unpartitioned ones."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def edit(self, what: EditTable) -> bool:
        """Change one table in one call; False when it is past the events."""
        target, edit = self._target, what.edit
        there = target.twin.existing(target.policy.on_replica(what.table.name))
        if target.twin.is_at(there, edit.event_id):
            return False
        refuse_another_kind(there, edit.after)
        location = self._placed(there, edit)
        if isinstance(edit.after, Table):
            after = target.table(edit.after, location, edit.event_id)
        else:
            after = _restamped(there, str(target.stamp(edit.event_id)), edit.event_id).at(there.name, location)
        alter_table(target, there, after, cascade=edit.cascade)
        return True

    def _placed(self, there: Table, edit: Edit) -> str | None:
        """Place the files of an edit; return the table's location after it."""
        if edit.rows is Rows.KEEP or there.location is None:
            return there.location
        self._target.lease.confirm()
        location = there.location
        if edit.rows is Rows.REPLACE and not there.partition_keys:
            location = table_directory(self._target.root, there.name.table, edit.rows_event)
        if edit.rows is Rows.APPEND:
            self._target.placing.append_all(there.name, [(location, tuple(with_checksums(edit.files)))])
        else:
            self._target.placing.comes_from(location, getattr(edit.after, "location", None))
            self._target.placing.place(there.name, location, with_checksums(edit.files))
            self._target.own(location)
        return location

    def create(self, change: CreateTable, event: Event, progress: Progress) -> bool:
        """Create a table with its files; an older one that has its name goes."""
        target = self._target
        name = target.policy.on_replica(change.table.name)
        there = target.twin.table(name)
        if target.twin.is_at(there, event.event_id):
            return False
        if there is not None:
            remove_table(target, there, progress)
        location = None
        if change.table.has_files:
            location = table_directory(target.root, name.table, event.event_id)
            target.lease.confirm()
            target.placing.comes_from(location, change.table.location)
            target.placing.place(name, location, created_files(change, event.event_id))
            target.own(location)
        made = target.table(change.table, location, event.event_id)
        create_table(target, made)
        return True

    def drop(self, change: DropTable, event: Event, progress: Progress) -> bool:
        """Drop a table, unless what has its name came after the event."""
        target = self._target
        there = target.twin.table(target.policy.on_replica(change.table.name))
        if there is None or target.twin.is_at(there, event.event_id):
            return False
        remove_table(target, there, progress)
        return True

    def rename_table(self, change: AlterTable, event: Event, progress: Progress) -> bool:
        """Rename a table: its files stay where they are, because no table lies in its default place.

        An older one that has the new name goes: the source's was dropped, by an event that was passed over.
        """
        target = self._target
        if not target.policy.follows(change.after.name):
            return self.drop(DropTable(change.before), event, progress)
        new_name = target.policy.on_replica(change.after.name)
        older = target.twin.table(new_name)
        if target.twin.is_at(older, event.event_id):
            return False
        if not target.policy.follows(change.before.name):
            raise came_into_scope(target.policy, change.after.name)
        there = target.twin.existing(target.policy.on_replica(change.before.name))
        refuse_another_kind(there, change.after)
        progress.before_removal()
        if older is not None and target.twin.stamp_of(older) is not None:
            drop_table(target, older)
        alter_table(target, there, target.table(change.after, there.location, event.event_id))
        # The metastore rewrites what its partitions say of their table.
        target.twin.forget_table(new_name)
        return True


def came_into_scope(policy: Policy, name: TableName) -> ActNow:
    """Return the error of a rename by which a table became one of the policy's."""
    return ActNow(
        f"table {name} came into the policy's scope by a rename; the log does not hold its rows",
        found="a rename from a name that the policy does not follow",
        expected="the table resynced",
        next_step="bring it over with: " + resync(policy.name, name.table),
    )


def refuse_another_kind(there: Table, after: object) -> None:
    """Refuse a table that became, say, external or transactional: its files follow other rules from there on."""
    if isinstance(after, Table) and not after.kind.is_all_in_log:
        raise ActNow(
            f"table {after.name} has become {_article(after.kind.value)} table, which is not replicated yet",
            found=after.kind.value,
            expected=there.kind.value,
            next_step=Exclude(after.name.table)
            + ", or make it a managed table again; then "
            + Clear("the failed task"),
        )


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def created_files(change: CreateTable, event_id: int) -> list[SourceFile]:
    """Return the files that an event creates with a table."""
    return with_checksums(SourceFile.of_event(file, change.table.location, event_id) for file in change.files)


def with_checksums(files: Any) -> list[SourceFile]:
    """Return the files whose content an event vouches for; the others are found by the scan."""
    return [file for file in files if file.checksum is not None]


def _restamped(table: Table, stamp: str, event_id: int) -> Table:
    parameters = without_statistics_claim({**table.parameters, STAMP: stamp, "repl.last.id": str(event_id)})
    return table.with_parameters(parameters)
