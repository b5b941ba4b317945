"""Be the users of external tables who also write files: with an object, or straight into its directory."""

from collections.abc import Mapping, Sequence

from tests.support.hive import metastore_objects as objects
from tests.support.users.external_writer import PURGES, ExternalWriter
from tests.support.users.source_writer import Values
from twinhive.core.model.files import join
from twinhive.core.model.objects import Table

Partitions = Mapping[Values, tuple[str | None, Mapping[str, bytes]]]
"""By values: a location (None: the default place) and files."""


class ExternalUsers(ExternalWriter):
    """Write external tables with their files, in memory or on real servers."""

    def fill_external(
        self,
        table: str,
        location: str,
        keys: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        *,
        purge: bool = False,
    ) -> Table:
        """Create an external table over a directory with files."""
        self.put(location, files or {})
        return self.create_external(table, keys, location, PURGES if purge else None)

    def fill_partitions(self, table: str, partitions: Partitions) -> None:
        """Add partitions with files."""
        found = self.table(table)
        made = []
        for values, (location, files) in partitions.items():
            partition = objects.a_partition(found, *values)
            place = location or join(found.location or "", partition.name(found.partition_keys))
            self.put(place, files)
            made.append(partition.at(found.name, place))
        self.metastore.add_partitions(made)

    def put(self, location: str, files: Mapping[str, bytes]) -> None:
        """Write files straight into a directory; no event tells of them."""
        self.files.make_directories(location)
        for name, content in files.items():
            self.files.write(join(location, name), content)
