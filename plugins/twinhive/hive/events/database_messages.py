"""Decode the events of databases and of their functions."""

from twinhive.core.model.changes.kinds import AlterDatabase, CreateDatabase, CreateFunction, DropDatabase, DropFunction
from twinhive.hive.events.event_objects import database, function
from twinhive.hive.events.fields import MessageFields


def create_database(message: MessageFields) -> CreateDatabase:
    """Decode CREATE_DATABASE."""
    return CreateDatabase(message.struct("dbJson", database))


def alter_database(message: MessageFields) -> AlterDatabase:
    """Decode ALTER_DATABASE."""
    return AlterDatabase(
        before=message.struct("dbObjBeforeJson", database), after=message.struct("dbObjAfterJson", database)
    )


def drop_database(message: MessageFields) -> DropDatabase:
    """Decode DROP_DATABASE."""
    return DropDatabase(message.text("db").lower())


def create_function(message: MessageFields) -> CreateFunction:
    """Decode CREATE_FUNCTION."""
    return CreateFunction(message.struct("functionObjJson", function))


def drop_function(message: MessageFields) -> DropFunction:
    """Decode DROP_FUNCTION."""
    return DropFunction(message.text("db").lower(), message.text("functionName").lower())
