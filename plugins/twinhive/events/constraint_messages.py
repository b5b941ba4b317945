"""Decode the events of constraints."""

from collections.abc import Callable
from functools import partial

from twinhive.domain.changes import AddConstraints, DropConstraint
from twinhive.domain.names import TableName
from twinhive.domain.tjson import Tree
from twinhive.events.event_errors import unreadable
from twinhive.events.fields import Fields
from twinhive.events.objects import table_name

# Kind -> the message's field, and the field ids of the constrained table's database and name in the
# Thrift struct. A foreign key is that of the table that refers, not of the one referred to.
_KINDS = {
    "primary_key": ("primaryKeyListJson", "1", "2"),
    "foreign_key": ("foreignKeyListJson", "4", "5"),
    "unique": ("uniqueConstraintListJson", "2", "3"),
    "not_null": ("notNullConstraintListJson", "2", "3"),
    "default": ("defaultConstraintListJson", "2", "3"),
    "check": ("checkConstraintListJson", "2", "3"),
}


def add_constraints(kind: str) -> Callable[[Fields], AddConstraints]:
    """Return what decodes the ADD_... event of one kind of constraint."""
    return partial(_add, kind)


def drop_constraint(message: Fields) -> DropConstraint:
    """Decode DROP_CONSTRAINT."""
    table = TableName(message.text("dbName").lower(), message.text("tableName").lower())
    return DropConstraint(table, message.text("constraintName").lower())


def _add(kind: str, message: Fields) -> AddConstraints:
    key, database_id, table_id = _KINDS[kind]

    def constrained(tree: Tree, text: str) -> tuple[TableName, str]:
        return table_name(tree, database_id, table_id), text

    found = message.structs(key, constrained)
    tables = {table for table, _ in found}
    if len(tables) != 1:
        raise unreadable(message.row, f"{key}: constraints of {len(tables)} tables", "constraints of one table")
    return AddConstraints(tables.pop(), kind, tuple(text for _, text in found))
