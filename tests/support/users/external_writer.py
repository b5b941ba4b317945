"""Do to a source what users of external tables do: metadata by the metastore, files by themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tests.support.hive import metastore_objects as objects
from tests.support.users.source_writer import Contents, SourceWriter, Values
from twinhive.core.model.names import partition_name
from twinhive.core.model.objects import Table

DATA = "hdfs://east/data"
PURGES = {"EXTERNAL": "TRUE", "external.table.purge": "TRUE"}


class ExternalWriter(SourceWriter):
    """Be the users of one database whose external tables lie below `hdfs://east/data`."""

    def create_external(
        self,
        table: str,
        keys: Sequence[str] = (),
        location: str | None = None,
        parameters: Mapping[str, str] | None = None,
    ) -> Table:
        """Create an external table, where its files are or will be."""
        made = objects.a_table(
            self.database,
            table,
            tuple(keys),
            location=location or f"{DATA}/{table}",
            table_type="EXTERNAL_TABLE",
            parameters=parameters or {"EXTERNAL": "TRUE"},
        )
        self.metastore.create_table(made)
        return self.table(table)

    def add_external(self, table: str, *values: Values, below: str | None = None) -> None:
        """Add partitions by one call, below their table's directory or another one."""
        found = self.table(table)
        keys = found.partition_keys
        places = [f"{below or found.location}/{partition_name(keys, each)}" for each in values]
        self.metastore.add_partitions(
            [objects.a_partition(found, *each, location=place) for each, place in zip(values, places, strict=True)]
        )

    def create_as(
        self, table: str, said: str | None, external: str | None, files: Contents = (), location: str | None = None
    ) -> Table:
        """Create a table of which a client says any type or none, and any EXTERNAL or none."""
        place = location or f"{DATA}/{table}"
        self._put(place, files)
        made = objects.a_table(self.database, table, location=place)
        self.metastore.create_table(objects.as_said(made, said, external))
        return self.table(table)

    def alter_as(self, table: str, said: str | None, external: str | None, owner_type: int | None = None) -> Table:
        """Alter a table so that a client says any type, EXTERNAL and kind of owner, or none of them."""
        found = self.table(table)
        self.metastore.alter_table(found.name, objects.as_said(found, said, external, owner_type))
        return self.table(table)

    def make_external(self, table: str) -> None:
        """Let a managed table become external; its files stay where they are.

        As Thrift clients do, who leave the type as it was: the metastore goes by the parameter.
        """
        found = self.table(table)
        self.metastore.alter_table(found.name, replace(found, parameters={**found.parameters, "EXTERNAL": "TRUE"}))

    def make_managed(self, table: str) -> None:
        """Let an external table become managed, by the parameter alone too; its files stay where they are."""
        found = self.table(table)
        self.metastore.alter_table(found.name, replace(found, parameters={**found.parameters, "EXTERNAL": "FALSE"}))
