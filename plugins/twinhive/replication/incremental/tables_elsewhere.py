"""Managed tables whose files nobody can list, because they lie on another file system: archived partitions (`har://`).

Such a table waits, frozen, with what a person can do; all others go on.
"""

from collections.abc import Collection

from twinhive.core.model.errors import Missing
from twinhive.core.model.files import is_elsewhere
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import MetastoreReader, ReadPorts
from twinhive.core.step.step_base import Report
from twinhive.replication.replica.source_scope import readable_tables
from twinhive.replication.replica.unusable_tables import why_it_waits


def tables_elsewhere(ports: ReadPorts, policy: Policy, tables: Collection[str], report: Report) -> dict[str, str]:
    """Return which of some tables cannot come whole now, with the reasons, and tell people."""
    root = ports.source_files.root
    found = {}
    # Of what cannot be read it is found when it is read whole.
    readable, _ = readable_tables(ports.source, policy.source.database, sorted(tables))
    for table in readable:
        away = _first_elsewhere(ports.source, table, root) if table.kind.has_logged_files else None
        if away is not None:
            found[table.name.table] = why_it_waits(policy, table.name.table, *away, root)
    for name, why in found.items():
        report(f"WAITS: {name}: {why}")
    return found


def _first_elsewhere(source: MetastoreReader, table: Table, root: str) -> tuple[str | None, str] | None:
    if not table.partition_keys:
        place = table.location or ""
        return (None, place) if is_elsewhere(place, root) else None
    try:
        return next(((name, at) for name, at in source.partition_locations(table) if is_elsewhere(at, root)), None)
    except Missing:
        return None
