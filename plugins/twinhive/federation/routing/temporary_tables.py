"""Tables and views that a script makes for its session alone: no metastore knows them, and their names hide others."""

from collections.abc import Callable
from dataclasses import dataclass, field

from twinhive.core.model.errors import ActNow
from twinhive.federation.routing.script import InSession
from twinhive.federation.routing.uses import StatementUses

Read = Callable[[str, str], StatementUses]
"""Reads a statement; names without a database are in a database."""


@dataclass
class ScriptReader:
    """Reads the statements of one script, in their order."""

    read: Read
    _temporary: set[str] = field(default_factory=set)

    def uses(self, one: InSession) -> StatementUses:
        """Return what a statement touches. Raises ActNow, also for one that names what the script has made for itself.

        A name is compared without its database: where Spark knows a temporary view by one, Hive knows it by another.
        """
        uses = self.read(one.sql, one.database)
        for name in (*uses.outputs, *(read.name for read in uses.inputs)):
            if name.table in self._temporary:
                raise _is_temporary(name.table)
        self._temporary |= {name.table for name in uses.temporary}
        return uses


def _is_temporary(table: str) -> ActNow:
    return ActNow(
        f"where {table} is cannot be told",
        found="a temporary table or view of this name, which the script makes before: it is in the session alone",
        expected="tables that the metastore knows",
        next_step="write a common table expression (WITH) in its place, or make it a table and drop it at the end",
    )
