"""Where the parts of Hive's dump lie (Hive 4: `EximUtil`, `ReplAck`, `ReplDumpTask`).

<root>/<database in base64>/<token>/hive/        (of a dump that we write: `twinhive-<token>`)
  _dumpmetadata  _finished_dump  [_events_dump]  [_finished_load]
  bootstrap:    metadata/<database>/_metadata, metadata/<database>/<table>/_metadata,
                metadata/<database>/_functions/<function>/_metadata, data/<database>/<table>[/<partition>]/_files
  incremental:  [events_batch_<n>/]<event id>/{_dumpmetadata,_metadata,data[/<partition>]/_files},
                _bootstrap/{metadata,data}/<database>/<table>/... of tables that came into the scope
"""

from base64 import b64encode
from dataclasses import dataclass

from twinhive.core.model.files import join

OWN = "twinhive-"
"""Begins the names of directories of dumps that we write."""


def dumps_of_database(root: str, database: str) -> str:
    """Return where Hive's REPL LOAD looks for the dumps of a database; the newest one that is finished counts."""
    return join(root, b64encode(database.lower().encode()).decode())


def hive_directory(root: str, database: str, token: str) -> str:
    """Return where a dump of a database that we write goes."""
    return join(dumps_of_database(root, database), OWN + token)


@dataclass(frozen=True)
class HivePlaces:
    """The directory `.../<token>/hive` of one dump and the names in it."""

    directory: str

    @classmethod
    def below(cls, dump: str) -> "HivePlaces":
        """Return the places of a dump by the directory that REPL DUMP returns."""
        return cls(join(dump, "hive"))

    @property
    def metadata(self) -> str:
        """What the dump is: kind, events, database."""
        return join(self.directory, "_dumpmetadata")

    @property
    def finished(self) -> str:
        """Written last: the dump is whole."""
        return join(self.directory, "_finished_dump")

    @property
    def loaded(self) -> str:
        """Written by the loader: Hive's next REPL DUMP goes on from here, and does nothing before."""
        return join(self.directory, "_finished_load")

    @property
    def events_count(self) -> str:
        """How many event directories there are."""
        return join(self.directory, "_events_dump")

    @property
    def whole_tables(self) -> "HivePlaces":
        """Where an incremental dump keeps tables that it resyncs."""
        return HivePlaces(join(self.directory, "_bootstrap"))

    def event(self, event_id: int) -> str:
        """Where one event is, in a dump without batches."""
        return join(self.directory, str(event_id))

    def database_objects(self, database: str) -> str:
        """The parent of all descriptions of a database's objects."""
        return join(self.directory, "metadata", database)

    def database(self, database: str) -> str:
        """The description of the database itself."""
        return description_in(self.database_objects(database))

    def table(self, database: str, table: str) -> str:
        """The description of a table and all its partitions."""
        return description_in(join(self.database_objects(database), table))

    def functions(self, database: str) -> str:
        """The parent of the descriptions of functions."""
        return join(self.database_objects(database), "_functions")

    def function(self, database: str, function: str) -> str:
        """The description of a function."""
        return description_in(join(self.functions(database), function))

    def constraints(self, database: str) -> str:
        """The parent of the descriptions of constraints."""
        return join(self.database_objects(database), "_constraints")

    def constraints_of(self, database: str, table: str) -> str:
        """The description of a table's constraints but its foreign keys."""
        return join(self.constraints(database), f"c_{table}")

    def foreign_keys_of(self, database: str, table: str) -> str:
        """The description of a table's foreign keys."""
        return join(self.constraints(database), f"f_{table}")

    def files(self, database: str, table: str, partition: str | None) -> str:
        """The list of files of a table or partition."""
        return list_in(join(self.directory, "data", database, table, partition or ""))


def description_in(directory: str) -> str:
    """Return where the description of an object or an event's objects is."""
    return join(directory, "_metadata")


def event_description_in(directory: str) -> str:
    """Return where the description of an event is."""
    return join(directory, "_dumpmetadata")


def data_in(event: str, partition: str = "") -> str:
    """Return where an event's list of files is."""
    return list_in(join(event, "data", partition))


def list_in(directory: str) -> str:
    """Return where the list of files of a directory is."""
    return join(directory, "_files")
