"""Create functions on the replica, with their jars and files beside its tables."""

from dataclasses import dataclass

from twinhive.core.model.errors import AlreadyThere, Refused, refused_as
from twinhive.core.model.files import is_below
from twinhive.core.model.objects import Function
from twinhive.core.model.text import Clear
from twinhive.core.ports import MetastoreWriter
from twinhive.replication.apply.function_files import FunctionFiles


def has_own_files(function: Function, root: str) -> bool:
    """True for a function of the replica whose files are all copies of ours, below the root of its managed tables."""
    return bool(function.resources) and all(is_below(uri, root) for uri in function.resources)


def said_of_alone(database: str, function: Function) -> str:
    """Say of a function that the replica alone has what can be done: its files are not ours, it may be somebody's."""
    name = function.name
    return f"function {name} is on the replica alone and stays; nobody needs it? DROP FUNCTION {database}.{name}"


@dataclass(frozen=True)
class Functions:
    """The functions of a replica's database."""

    replica: MetastoreWriter
    database: str
    files: FunctionFiles

    def put(self, function: Function, event_id: int) -> bool:
        """Create a function as of an event, in the place of another one of its name; False when it is there.

        Raises LeftOut, and changes nothing then.
        """
        resources = self.files.bring(function, event_id)
        wanted = function.at(self.database, resources)
        try:
            self.replica.create_function(wanted)
        except AlreadyThere:
            there = {one.name: one for one in self.replica.functions(self.database)}.get(wanted.name)
            if there is not None and (there.class_name, there.resources) == (wanted.class_name, resources):
                return False
            self.drop(wanted.name)
            self.replica.create_function(wanted)
        return True

    def drop(self, name: str) -> None:
        """Drop a function; one that is not there is fine."""
        try:
            self.replica.drop_function(self.database, name)
        except Refused as error:
            raise refused_as(
                error,
                f"function {self.database}.{name} of the replica cannot be dropped",
                found=error.found or error.what,
                expected="its files: the metastore of a database with repl.source.for keeps them first",
                next_step="put a file at each path that DESCRIBE FUNCTION EXTENDED names, then " + Clear("the task"),
            ) from error
