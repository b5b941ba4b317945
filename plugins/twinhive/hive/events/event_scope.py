"""Judge whether an event concerns a policy."""

from collections.abc import Callable, Iterable

from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.hive.events.event_message import names_touched
from twinhive.hive.events.event_types import KNOWN_TYPES

_DEFAULT_CATALOGS = frozenset({None, "", "hive"})


NamesOfEvent = Callable[[EventRow], Iterable[TableName]]


def is_of_default_catalog(row: EventRow) -> bool:
    """True for an event of the catalog that is replicated: databases of others may have the same names."""
    return row.catalog in _DEFAULT_CATALOGS


def in_scope(row: EventRow, policy: Policy, names_of: NamesOfEvent = names_touched) -> bool:
    """True for events on the policy's database itself, its functions, and its selected tables.

    A rename counts by its old and its new name. Transactions name no database and are out. An
    unknown type that names no database may change anything, so it is in: `decode_event` refuses it.
    """
    if not is_of_default_catalog(row):
        return False
    if not row.database and row.event_type not in KNOWN_TYPES:
        return True
    database = (row.database or "").lower()
    if not row.table and database == policy.source.database:
        return True
    # The row's own name first: most messages need not be opened here.
    if row.table and policy.follows(TableName(database, row.table.lower())):
        return True
    return bool(policy.followed(names_of(row)))
