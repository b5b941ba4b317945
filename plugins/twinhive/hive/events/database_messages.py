"""Decode the events of databases and of their functions."""

from dataclasses import replace

from twinhive.core.model.changes.kinds import AlterDatabase, CreateDatabase, CreateFunction, DropDatabase, DropFunction
from twinhive.hive.events.event_objects import database, function
from twinhive.hive.events.fields import MessageFields


def create_database(message: MessageFields) -> CreateDatabase:
    """Decode CREATE_DATABASE."""
    return CreateDatabase(message.struct("dbJson", database))


def alter_database(message: MessageFields) -> AlterDatabase:
    """Decode ALTER_DATABASE. A client that says no kind of owner leaves it as it was."""
    before, after = message.struct("dbObjBeforeJson", database), message.struct("dbObjAfterJson", database)
    return AlterDatabase(before, replace(after, owner_type=after.owner_type or before.owner_type))


def drop_database(message: MessageFields) -> DropDatabase:
    """Decode DROP_DATABASE."""
    return DropDatabase(message.text("db").lower())


def create_function(message: MessageFields) -> CreateFunction:
    """Decode CREATE_FUNCTION."""
    return CreateFunction(message.struct("functionObjJson", function))


def drop_function(message: MessageFields) -> DropFunction:
    """Decode DROP_FUNCTION."""
    return DropFunction(message.text("db").lower(), message.text("functionName").lower())
