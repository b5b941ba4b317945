"""Describe the constraints of tables as values.

Hive enforces none of them but NOT NULL, DEFAULT and CHECK; its planner believes the others (RELY).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from twinhive.core.model.names import TableName
from twinhive.core.model.tjson import from_text

FOREIGN_KEY = "foreign_key"
TablePair = tuple[TableName, TableName]
"""A table, and one that a foreign key of it refers to."""


@dataclass(frozen=True)
class ConstraintFields:
    """The field ids in the Thrift struct of one kind: of the constrained table's database, name and column, and of
    the constraint's name.
    """

    database: str
    table: str
    column: str
    name: str


FIELDS: Mapping[str, ConstraintFields] = {
    "primary_key": ConstraintFields("1", "2", "3", "5"),
    # Of the table that refers, not of the one referred to.
    FOREIGN_KEY: ConstraintFields("4", "5", "6", "10"),
    "unique": ConstraintFields("2", "3", "4", "6"),
    "not_null": ConstraintFields("2", "3", "4", "5"),
    "default": ConstraintFields("2", "3", "4", "6"),
    "check": ConstraintFields("2", "3", "4", "6"),
}
"""By the kinds of `twinhive.core.model.changes.kinds.AddConstraints`."""
_PARENT_DATABASE, _PARENT_TABLE = "1", "2"


@dataclass(frozen=True)
class Constraint:
    """A constraint of a table: its name in lower case, and its Thrift structs in TJSON, one for each column.

    Whose table it is, the structs say as the source does; who adds it says of which table.
    """

    kind: str
    name: str
    structs: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it is about; none for a CHECK over several."""
        field = FIELDS[self.kind].column
        named = (from_text(text).get(field, {}).get("str") for text in self.structs)
        return tuple(column.lower() for column in named if column)

    @property
    def parent(self) -> TableName | None:
        """The table that a foreign key refers to."""
        if self.kind != FOREIGN_KEY:
            return None
        tree = from_text(self.structs[0])
        return TableName(tree[_PARENT_DATABASE]["str"].lower(), tree[_PARENT_TABLE]["str"].lower())


def referring(pairs: Iterable[TablePair]) -> Mapping[TableName | None, set[TableName]]:
    """Return the tables that refer to each."""
    found: dict[TableName | None, set[TableName]] = defaultdict(set)
    for child, parent in pairs:
        found[parent].add(child)
    return found


def constraints_of(kind: str, structs: Iterable[str]) -> tuple[Constraint, ...]:
    """Put structs of one kind together to constraints, sorted by name."""
    found: dict[str, list[str]] = defaultdict(list)
    for text in structs:
        found[from_text(text)[FIELDS[kind].name]["str"].lower()].append(text)
    return tuple(Constraint(kind, name, tuple(some)) for name, some in sorted(found.items()))


def without_foreign_keys(constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
    """Return the constraints that need no other table."""
    return tuple(one for one in constraints if one.kind != FOREIGN_KEY)


def foreign_keys(constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
    """Return those that refer to another table."""
    return tuple(one for one in constraints if one.kind == FOREIGN_KEY)
