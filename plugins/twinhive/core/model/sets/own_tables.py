"""Tables of ours in databases of people's data: one mark is one partition, and no object of anybody else is written."""

from dataclasses import dataclass

from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table


@dataclass(frozen=True)
class OwnTable:
    """A kind of table that a database may have once.

    says   the property by which a table of this name says that it is one: `1`
    holds  what is kept in it, in a word
    """

    name: str
    keys: tuple[str, ...]
    says: str
    holds: str

    def of(self, database: str) -> TableName:
        """Return its name in a database."""
        return TableName(database, self.name)

    def is_one(self, table: Table) -> bool:
        """True for a table that is one, and does not merely have its name."""
        is_named = table.name.table == self.name and table.partition_keys == self.keys
        return is_named and table.parameters.get(self.says) == "1"


SETS = OwnTable("twinhive_sets", ("table_name", "spec"), "twinhive.sets", "sets")
COPY_MARKS = OwnTable("twinhive_copies", ("table_name", "cluster", "object"), "twinhive.copies", "marks of copies")

OWN_TABLES = frozenset({SETS.name, COPY_MARKS.name})
"""Their names: no policy and no placement follows one as a table of people's."""
