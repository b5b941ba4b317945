"""Keep the constraints of a metastore's tables in memory."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tests.support.hive.fake_state import MetastoreState
from twinhive.core.model.constraints import FOREIGN_KEY, Constraint, constraints_of
from twinhive.core.model.errors import AlreadyThere, Refused
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Table
from twinhive.core.model.tjson import Tree, from_text, to_text


@dataclass(frozen=True)
class _Kind:
    """The event of one kind of constraint, and the field ids of its struct."""

    event_type: str
    message_key: str
    database: str
    table: str
    name: str
    catalog: str


_KINDS = {
    "primary_key": _Kind("ADD_PRIMARYKEY", "primaryKeyListJson", "1", "2", "5", "9"),
    "unique": _Kind("ADD_UNIQUECONSTRAINT", "uniqueConstraintListJson", "2", "3", "6", "1"),
    "not_null": _Kind("ADD_NOTNULLCONSTRAINT", "notNullConstraintListJson", "2", "3", "5", "1"),
    "default": _Kind("ADD_DEFAULTCONSTRAINT", "defaultConstraintListJson", "2", "3", "6", "1"),
    "check": _Kind("ADD_CHECKCONSTRAINT", "checkConstraintListJson", "2", "3", "6", "1"),
    FOREIGN_KEY: _Kind("ADD_FOREIGNKEY", "foreignKeyListJson", "4", "5", "10", "15"),
}
_PARENT_DATABASE, _PARENT_TABLE, _PARENT_COLUMN = "1", "2", "3"


class ConstraintsInMemory(MetastoreState):
    """Be the calls for constraints."""

    def add_constraints(self, table: TableName, kind: str, constraints: Sequence[str]) -> None:
        """Add constraints of one kind to a table. Raises AlreadyThere, Missing."""
        if not constraints:
            return
        with self._call():
            fields = _KINDS[kind]
            found = self._existing(table)
            trees = [_of_table(from_text(text), kind, table) for text in constraints]
            made = constraints_of(kind, map(to_text, trees))
            if kind not in ("default", "check"):
                _check_columns(found, {column for one in made for column in one.columns})
            names = {one.name for one in made}
            parent = table
            if kind == FOREIGN_KEY:
                parent = self._existing(_parent(trees[0])).name
                self._check_key(parent, {tree[_PARENT_COLUMN]["str"].lower() for tree in trees})
            there = self._constraints[table]
            if names & there.keys() or (kind == "primary_key" and any(one.kind == kind for one in there.values())):
                raise AlreadyThere(f"{table} has such a {kind} constraint already")
            there |= {one.name: one for one in made}
            # A foreign key is filed under the table it refers to.
            message = {fields.message_key: [to_text(tree) for tree in trees]}
            self.emit(fields.event_type, parent.database, parent.table, message)

    def _check_key(self, parent: TableName, columns: set[str]) -> None:
        keys = [one for one in self._constraints[parent].values() if one.kind in ("primary_key", "unique")]
        if columns not in [set(key.columns) for key in keys]:
            raise Refused(f"{parent} has no key of the columns {', '.join(sorted(columns))}")

    def drop_constraint(self, table: TableName, name: str) -> None:
        """Drop a constraint; one that does not exist is fine."""
        with self._call():
            if self._constraints.get(table, {}).pop(name.lower(), None):
                message = {"dbName": table.database, "tableName": table.table, "constraintName": name}
                self.emit("DROP_CONSTRAINT", table.database, table.table, message)

    def constraints(self, table: TableName) -> tuple[Constraint, ...]:
        """Return the constraints of a table, foreign keys last; none without the table."""
        with self._call():
            found = self._constraints.get(table, {}).values()
            return tuple(sorted(found, key=lambda one: (list(_KINDS).index(one.kind), one.name)))

    def _constraints_follow(self, before: Table, after: Table) -> None:
        """Bring constraints under a table's new name; those of columns that are not what they were go, untold."""
        self._constraints[after.name] = {
            name: _under(one, after.name) for name, one in self._constraints.pop(before.name).items()
        }
        gone = {name.lower() for name, kind in before.columns if (name, kind) not in after.columns}
        for table, there in self._constraints.items():
            for one in list(there.values()):
                if gone & {*(one.columns if table == after.name else ()), *_parent_columns(one, before.name)}:
                    del there[one.name]
                elif before.name != after.name and one.parent == before.name:
                    there[one.name] = _referring_to(one, after.name)

    def _forget_constraints(self, table: TableName) -> None:
        """Drop the constraints of a table, and the foreign keys of others that refer to it."""
        self._constraints.pop(table, None)
        for there in self._constraints.values():
            for name in [one.name for one in there.values() if one.parent == table]:
                del there[name]


def _check_columns(table: Table, columns: set[str]) -> None:
    keys = {key.lower() for key in table.partition_keys}
    if unknown := columns - {name.lower() for name, _ in table.columns} - keys:
        raise Refused(f"{table.name} has no column {', '.join(sorted(unknown))}")


def _of_table(tree: Tree, kind: str, table: TableName) -> Tree:
    fields = _KINDS[kind]
    moved = {fields.database: {"str": table.database}, fields.table: {"str": table.table}}
    if kind == FOREIGN_KEY and tree[_PARENT_DATABASE] == tree[fields.database]:
        moved[_PARENT_DATABASE] = {"str": table.database}
    return {**tree, **moved, fields.catalog: {"str": "hive"}}


def _under(constraint: Constraint, table: TableName) -> Constraint:
    fields = _KINDS[constraint.kind]
    renamed = {fields.database: {"str": table.database}, fields.table: {"str": table.table}}
    return replace(constraint, structs=tuple(to_text({**from_text(text), **renamed}) for text in constraint.structs))


def _parent(tree: Tree) -> TableName:
    return TableName(tree[_PARENT_DATABASE]["str"].lower(), tree[_PARENT_TABLE]["str"].lower())


def _parent_columns(constraint: Constraint, table: TableName) -> set[str]:
    """Return the columns of a table that a foreign key refers to."""
    if constraint.parent != table:
        return set()
    return {from_text(text)[_PARENT_COLUMN]["str"].lower() for text in constraint.structs}


def _referring_to(constraint: Constraint, parent: TableName) -> Constraint:
    renamed = {_PARENT_DATABASE: {"str": parent.database}, _PARENT_TABLE: {"str": parent.table}}
    structs = tuple(to_text({**from_text(text), **renamed}) for text in constraint.structs)
    return replace(constraint, structs=structs)
