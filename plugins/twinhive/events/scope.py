"""Judge whether an event concerns a policy."""

from twinhive.domain.events import EventRow
from twinhive.domain.policy import Policy
from twinhive.events.message import names_touched

_DEFAULT_CATALOGS = frozenset({None, "", "hive"})


def in_scope(row: EventRow, policy: Policy) -> bool:
    """True for events on the policy's database itself, its functions, and its selected tables.

    A rename counts by its old and its new name. Transactions name no database and are out.
    """
    if row.catalog not in _DEFAULT_CATALOGS:
        return False
    database = policy.source.database
    if not row.table and (row.database or "").lower() == database:
        return True
    return any(name.database == database and policy.selects(name.table) for name in names_touched(row))
