"""What a statement reads and writes, as far as tables are concerned."""

from dataclasses import dataclass, field

from twinhive.core.model.names import TableName
from twinhive.core.model.table_formats import FILE_SOURCES, OPEN_FORMATS
from twinhive.federation.routing.predicates import ALL, Predicate


@dataclass(frozen=True)
class ReadTable:
    """A table, or a view, that a statement reads; `where` is what it asks of its partitions."""

    name: TableName
    where: Predicate = ALL


@dataclass(frozen=True)
class StatementUses:
    """All that a statement touches, in the order of its text.

    `outputs` are tables that it writes, new ones among them; `inputs` those that it reads. `unknown` says what else it
    may read or write, of which nobody knows on which cluster that is. `temporary` are tables and views that it makes
    for its session alone, `made` those of `outputs` that are not there before it, unless they were there already.
    """

    outputs: tuple[TableName, ...] = ()
    inputs: tuple[ReadTable, ...] = ()
    unknown: tuple[str, ...] = field(default=())
    temporary: tuple[TableName, ...] = ()
    made: tuple[TableName, ...] = ()


def may_be_path(name: TableName) -> bool:
    """True for a name that means files to Spark where no table has it: of such files nobody knows the cluster."""
    return "/" in name.table or name.database in (*FILE_SOURCES, *OPEN_FORMATS)
