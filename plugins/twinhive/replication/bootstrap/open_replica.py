"""Create the replica's database, or take up one that an earlier load left incomplete."""

from collections.abc import Sequence
from dataclasses import replace

from twinhive.core.directory_marks.directories import table_mark, table_of
from twinhive.core.model.errors import Foreign
from twinhive.core.model.human_readable import first_of
from twinhive.core.model.marks import LOAD_DATABASE, Phase, ReplicaState, without_marks
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear
from twinhive.core.ports import Lease, WritePorts
from twinhive.core.step.promotion_note import end_promotion_note
from twinhive.core.step.step_base import Report
from twinhive.replication.apply.create_guard import absent_before
from twinhive.replication.apply.functions import has_own_files, said_of_alone
from twinhive.replication.apply.managed_locations import managed_root
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.external_tables.changed_rules import rules_mark
from twinhive.replication.replica.pending_files import remove_pending
from twinhive.replication.replica.replica_state import read_state
from twinhive.replication.replica.source_scope import each_table
from twinhive.replication.replica.stamping import brings, is_ours
from twinhive.replication.replica.used_directories import UsedPlaces

_NAMED = 20


def loading_state(policy: Policy, dump: Dump) -> ReplicaState:
    """Return what the replica says while a dump is being loaded."""
    external = policy.external
    begun = ReplicaState(Phase.LOADING, policy.name, dump.manifest.log_id, dump.key)
    if not external.included:
        return begun
    return replace(begun, external_base=external.base_mark, external_rules=rules_mark(external))


def directory_mark(policy: Policy, dump: Dump) -> str:
    """Return the mark of the directories that the load of a dump builds."""
    return f"{policy.name}:{dump.key}"


def open_replica(ports: WritePorts, policy: Policy, dump: Dump, lease: Lease, report: Report) -> str:
    """Bring the replica's database to 'loading this dump'; return the directory of its managed tables.

    Raises Foreign for what is not ours.
    """
    state = read_state(ports.replica, policy, dump.manifest.log_id)
    lease.confirm()
    if state.phase is Phase.ABSENT or state.dump != dump.key:
        # What waited for its data when another dump was loaded, or followed, is no part of this one.
        remove_pending(ports.replica_files, policy)
    if state.phase is Phase.ABSENT:
        # Whoever had taken over in this place is gone, with all that users have written there.
        end_promotion_note(ports.replica_files, policy)
        with absent_before():
            ports.replica.create_database(_replica_database(policy, dump))
        report(f"created database {policy.replica}")
    elif state.dump != dump.key:
        report(f"an earlier load of dump {state.dump} was cut off: its tables are removed first")
        database = ports.replica.database(policy.replica.database)
        made = database.parameters.get(LOAD_DATABASE) if database else None
        _remove_unpublished(ports, policy, dump, lease, report, is_made=made is not None)
        lease.confirm()
        parameters = _loading_parameters(policy, dump) | ({LOAD_DATABASE: made} if made else {})
        ports.replica.set_database_parameters(policy.replica.database, parameters)
    return managed_root(ports.replica, policy)


def _replica_database(policy: Policy, dump: Dump) -> Database:
    source = dump.manifest.database
    return Database(
        name=policy.replica.database,
        location=None,
        managed_location=None,
        parameters=_loading_parameters(policy, dump) | {LOAD_DATABASE: "made"},
        thrift=source.thrift,
        comment=source.comment,
        owner=source.owner,
        owner_type=source.owner_type,
    )


def _loading_parameters(policy: Policy, dump: Dump) -> dict[str, str]:
    return {**without_marks(dump.manifest.database.parameters), **loading_state(policy, dump).written()}


def _remove_unpublished(
    ports: WritePorts, policy: Policy, dump: Dump, lease: Lease, report: Report, *, is_made: bool
) -> None:
    """Remove what a load that never published, or what followed it, has put there: tables, directories, functions.

    All else is other people's and stays: what no policy brings is named, what is in the way of the load is refused.
    `is_made` says that a load has made the database itself: then all functions are of loads.
    """
    ours: list[TableName] = []
    alone: list[TableName] = []
    in_the_way: list[TableName] = []
    for table in each_table(ports.replica, policy.replica.database):
        if is_ours(policy, table, dump.manifest.log_id):
            ours.append(table.name)
        else:
            (in_the_way if brings(policy, table) else alone).append(table.name)
    _refuse_in_the_way(policy, dump, in_the_way)
    if alone:
        report(f"left alone, because policy {policy.name} does not bring them: {', '.join(first_of(alone, _NAMED))}")
    for name in ours:
        lease.confirm()
        ports.replica.drop_table(name, delete_data=False)
    _remove_functions(ports, policy, dump, lease, report, is_made=is_made)
    _remove_built_directories(ports, policy, lease, report)


def _refuse_in_the_way(policy: Policy, dump: Dump, tables: Sequence[TableName]) -> None:
    if tables:
        raise Foreign(
            f"{len(tables)} tables on {policy.replica.cluster} are in the way of what policy {policy.name} brings, and "
            "were not made by it",
            found=", ".join(first_of(tables, _NAMED)),
            expected=f"no tables that bear no stamp of source log {dump.manifest.log_id}",
            next_step=f"move them out of database {policy.replica.database} or drop them, then "
            + Clear("the task load"),
        )


def _remove_functions(
    ports: WritePorts, policy: Policy, dump: Dump, lease: Lease, report: Report, *, is_made: bool
) -> None:
    """Drop the functions whose files we have brought. Those of the dump take the place of what has their names."""
    database, root = policy.replica.database, managed_root(ports.replica, policy)
    coming = {function.name for function in dump.manifest.base.functions}
    for function in ports.replica.functions(database):
        if is_made or has_own_files(function, root):
            lease.confirm()
            ports.replica.drop_function(database, function.name)
        elif function.name not in coming:
            report(said_of_alone(database, function))


def _remove_built_directories(ports: WritePorts, policy: Policy, lease: Lease, report: Report) -> None:
    """Take away the directories that we built, but those in which something lies that is registered still."""
    root = managed_root(ports.replica, policy)
    built = built_directories(ports, policy)
    places = UsedPlaces.read_whole(ports.replica, policy, root) if built else None
    for directory in built:
        if places is None or places.uses(directory):
            report(f"left in place, because a table uses it that policy {policy.name} does not bring: {directory}")
        elif owned := table_of(ports.replica_files, root, directory, policy.name):
            lease.confirm()
            owned.take_away()


def built_directories(ports: WritePorts, policy: Policy) -> list[str]:
    """Return the directories of tables that bear the policy's mark."""
    ((_, children),) = ports.replica_files.list_directories([managed_root(ports.replica, policy)])
    directories = (child.path for child in children or () if child.is_directory)
    return [one for one in directories if table_mark(ports.replica_files, one) == policy.name]
