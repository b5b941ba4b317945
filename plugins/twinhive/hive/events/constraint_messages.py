"""Decode the events of constraints."""

from collections.abc import Callable
from functools import partial

from twinhive.core.model.changes.kinds import AddConstraints, DropConstraint
from twinhive.core.model.constraints import FIELDS
from twinhive.core.model.names import TableName
from twinhive.core.model.tjson import Tree
from twinhive.hive.events.event_errors import unreadable
from twinhive.hive.events.event_objects import table_name
from twinhive.hive.events.fields import MessageFields

LISTS = {
    "primary_key": "primaryKeyListJson",
    "foreign_key": "foreignKeyListJson",
    "unique": "uniqueConstraintListJson",
    "not_null": "notNullConstraintListJson",
    "default": "defaultConstraintListJson",
    "check": "checkConstraintListJson",
}
"""The messages' fields, by kind."""


def add_constraints(kind: str) -> Callable[[MessageFields], AddConstraints]:
    """Return what decodes the ADD_... event of one kind of constraint."""
    return partial(_add, kind)


def drop_constraint(message: MessageFields) -> DropConstraint:
    """Decode DROP_CONSTRAINT."""
    table = TableName(message.text("dbName").lower(), message.text("tableName").lower())
    return DropConstraint(table, message.text("constraintName").lower())


def _add(kind: str, message: MessageFields) -> AddConstraints:
    key, fields = LISTS[kind], FIELDS[kind]

    def constrained(tree: Tree, text: str) -> tuple[TableName, str]:
        return table_name(tree, fields.database, fields.table), text

    found = message.structs(key, constrained)
    tables = {table for table, _ in found}
    if len(tables) != 1:
        raise unreadable(message.row, f"{key}: constraints of {len(tables)} tables", "constraints of one table")
    return AddConstraints(tables.pop(), kind, tuple(text for _, text in found))
