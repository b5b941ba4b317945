"""Which tables come whole because a policy says something else of external tables than before, and remember it."""

from collections.abc import Callable
from contextlib import suppress

from twinhive.core.model.errors import Missing
from twinhive.core.model.marks import EXTERNAL_BASE, EXTERNAL_RULES, ReplicaState
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import MetastoreReader, ReadPorts
from twinhive.replication.apply.apply_progress import Progress
from twinhive.replication.external_tables.changed_rules import brought_otherwise, rules_mark
from twinhive.replication.replica.pending_files import pending_names
from twinhive.replication.replica.source_scope import read_scope, read_selected
from twinhive.replication.replica.stamping import is_ours


def of_new_class(ports: ReadPorts, policy: Policy, state: ReplicaState) -> dict[str, str]:
    """Return the tables to bring over, each with the reason, as long as the replica has not said that all are."""
    if not policy.external.included:
        return {}
    found = dict.fromkeys(_ruled_otherwise(ports, policy, state), "external_tables.data or stay says otherwise now")
    return found | dict.fromkeys(_not_followed(ports, policy, state), "external tables are replicated from now on")


def _not_followed(ports: ReadPorts, policy: Policy, state: ReplicaState) -> list[str]:
    """Return the external tables that were left out so far: the source's, and those that only the replica still has.

    With no base directory so far, those that need none have been followed.
    """
    if state.external_base == policy.external.base_mark:
        return []
    names = [table.name.table for table in read_scope(ports.source, policy).external]
    if state.external_base is None:
        return sorted({*names, *_gone_meanwhile(ports, policy, state)})
    if not names:
        return []
    there = {table.name.table for table in ports.replica.tables(policy.replica.database, names)}
    return sorted(set(names) - there - set(pending_names(ports.replica_files, policy)))


def _gone_meanwhile(ports: ReadPorts, policy: Policy, state: ReplicaState) -> set[str]:
    """Return our external tables of the replica, shown or waiting, that the source does not have any more.

    None of a source database that is gone: what it has dropped stays (docs/fine-print.md).
    """
    if ports.source.database(policy.source.database) is None:
        return set()
    there = read_selected(ports.replica, policy, policy.replica.database)
    ours = {one.name.table for one in there if one.is_external and is_ours(policy, one, state.log_id)}
    waiting = pending_names(ports.replica_files, policy)
    return {*ours, *waiting} - set(ports.source.table_names(policy.source.database))


def _ruled_otherwise(ports: ReadPorts, policy: Policy, state: ReplicaState) -> list[str]:
    """Return the source's external tables that lie elsewhere now, or whose data nobody has copied so far.

    One that was adopted, or failed back, does not say by which rules its data came: then it were the present ones.
    """
    external, before = policy.external, state.external_rules
    if state.external_base is None or before in (None, rules_mark(external)):
        return []
    is_otherwise = brought_otherwise(external, before)
    tables = read_scope(ports.source, policy).external
    return [table.name.table for table in tables if _has_any(ports.source, table, is_otherwise)]


def _has_any(source: MetastoreReader, table: Table, is_otherwise: Callable[[str], bool]) -> bool:
    if table.location and is_otherwise(table.location):
        return True
    with suppress(Missing):  # dropped meanwhile: its event tells
        places = source.partition_locations(table) if table.partition_keys else ()
        return any(is_otherwise(place) for _, place in places if place)
    return False


def remember_class(policy: Policy, progress: Progress, *, of_statement: bool) -> None:
    """Let the replica say how all external tables are brought over, or that it has none.

    A window that ends may leave tables to later ones: they are asked for by then, each by a file. Of a statement's
    nobody has asked for what its rules would bring otherwise: those of before stay.
    """
    external, parameters = policy.external, progress.parameters
    left = {key: value for key, value in parameters.items() if key not in (EXTERNAL_BASE, EXTERNAL_RULES)}
    said = {EXTERNAL_BASE: external.base_mark} if external.included else {}
    rules = parameters.get(EXTERNAL_RULES) if of_statement else rules_mark(external)
    if said and rules is not None:
        said[EXTERNAL_RULES] = rules
    if parameters != left | said:
        progress.set_parameters(left | said)
