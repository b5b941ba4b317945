"""Do to a source what users of external tables do: metadata by the metastore, files by themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tests.support.hive import metastore_objects as objects
from tests.support.users.source_writer import SourceWriter, Values
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

    def make_external(self, table: str) -> None:
        """Let a managed table become external; its files stay where they are."""
        found = self.table(table)
        external = {**found.parameters, "EXTERNAL": "TRUE"}
        self.metastore.alter_table(found.name, replace(found, table_type="EXTERNAL_TABLE", parameters=external))

    def make_managed(self, table: str) -> None:
        """Let an external table become managed; its files stay where they are."""
        found = self.table(table)
        managed = {key: value for key, value in found.parameters.items() if key != "EXTERNAL"}
        self.metastore.alter_table(found.name, replace(found, table_type="MANAGED_TABLE", parameters=managed))
