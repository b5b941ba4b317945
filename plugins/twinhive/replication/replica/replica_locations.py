"""Decide where a table and its files lie on the replica.

A managed table lies below the managed directory of its replica's database, in a directory named by
the table and the event that made its content. So each content has a place of its own: a switch of
location shows it at once, the metastore never moves or deletes anything, and what a rerun finds there
is its own. No partition is put at its default place, `<table's directory>/<partition>`: what a later
content replaces would lie there for a while, and become rows of whoever adds that partition without a
place. Only the metastore puts one there, when it renames it.
"""

import json
import re
from dataclasses import dataclass

from twinhive.core.model.file_names import file_name, partition_path
from twinhive.core.model.files import is_below, join, relative_to
from twinhive.core.model.marks import SOURCE_PLACE, Stamp, stamped
from twinhive.core.model.objects import Parameters, Partition, Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.remotes.definitions import still_standing_for

_OURS = re.compile(r"(.+)\.(\d+)(?:-[0-9a-f]+)?")
CONTENTS = "_tw"
"""Below a table's directory: `_tw/<event id>/<partition>`. Readers of the table's directory skip it."""
_STATISTICS_CLAIM = "COLUMN_STATS_ACCURATE"
TRANSLATED = "TRANSLATED_TO_EXTERNAL"


@dataclass(frozen=True)
class TablePlacement:
    """A source table and its place on the replica.

    `directory` is the final directory, `building` the one below staging in which the table's
    files are put together before the whole directory is renamed in. `contents_of` is the event that
    its partitions' directories are named by.
    """

    source: Table
    replica: Table
    directory: str
    building: str
    contents_of: int

    @classmethod
    def plan(
        cls, table: Table, policy: Policy, managed_root: str, build_root: str, stamp: Stamp, token: str = ""
    ) -> "TablePlacement":
        """Place a managed table below `managed_root`.

        `token` tells dumps of one event apart: who is late in removing what a load of another dump has
        left must not find the directories of this one.
        """
        name = policy.on_replica(table.name)
        key = silent_key(stamp.event_id, token) if token else stamp.event_id
        directory = table_directory(managed_root, name.table, key)
        replica = table.at(name, directory).with_parameters(replica_parameters(table.parameters, stamp))
        return cls(table, replica, directory, join(build_root, file_name(name.table)), stamp.event_id)

    @classmethod
    def of_view(cls, view: Table, policy: Policy, stamp: Stamp) -> "TablePlacement":
        """Place a view: only its name and its marks change, its text stays as it is. It has no directory.

        One that keeps a remote table stands for the same table on the replica.
        """
        name = policy.on_replica(view.name)
        parameters = still_standing_for(view.parameters, view.name, name)
        return cls(view, view.at(name, None).with_parameters(stamped(parameters, stamp)), "", "", stamp.event_id)

    def relative(self, partition: Partition) -> str:
        """Return a partition's directory relative to the table's, on the replica."""
        return f"{CONTENTS}/{self.contents_of}/{partition_path(partition.name(self.source.partition_keys))}"

    def partition(self, partition: Partition, stamp: Stamp) -> Partition:
        """Place a partition; one of a view has no place."""
        location = join(self.directory, self.relative(partition)) if self.directory else None
        moved = partition.at(self.replica.name, location)
        placed = moved.with_parameters(replica_parameters(partition.parameters, stamp))
        return with_source_place(placed, self.source, partition)


def source_place(table: Table, partition: Partition) -> str | None:
    """Return where a source partition lies: below its table, elsewhere, None for the default place."""
    location = partition.location
    if not location or not table.location:
        return None
    place = relative_to(location, table.location) if is_below(location, table.location) else location
    return None if place == partition.name(table.partition_keys) else place


def with_source_place(placed: Partition, table: Table, partition: Partition) -> Partition:
    """Let a replica's partition say where the source's lies: an event of another location does not tell the old one."""
    left = {key: value for key, value in placed.parameters.items() if key != SOURCE_PLACE}
    place = source_place(table, partition)
    return placed.with_parameters({**left, SOURCE_PLACE: place} if place else left)


def replica_parameters(parameters: Parameters, stamp: Stamp) -> dict[str, str]:
    """Return a source object's parameters as the replica's object carries them.

    The mark of a table that the source's metastore made external stays behind: by it, the replica's metastore would
    move the table's directory on a rename (Hive 4, HiveAlterHandler).
    """
    kept = {key: value for key, value in parameters.items() if key != TRANSLATED}
    return without_statistics_claim(stamped(kept, stamp))


def without_statistics_claim(parameters: Parameters) -> dict[str, str]:
    """Drop the claim that column statistics are accurate.

    They arrive by events of their own, or not; a query planner must not believe that they are there.
    """
    kept = dict(parameters)
    try:
        claims = json.loads(kept.get(_STATISTICS_CLAIM, "{}"))
    except ValueError:
        claims = {}
    if isinstance(claims, dict) and "COLUMN_STATS" in claims:
        kept[_STATISTICS_CLAIM] = json.dumps({key: value for key, value in claims.items() if key != "COLUMN_STATS"})
    return kept


def table_directory(root: str, table: str, event: int | str) -> str:
    """Return the directory of a table, or of an unpartitioned table's content, as of an event.

    Its name is never the table's own: the metastore moves only tables in their default place.
    """
    return join(root, f"{file_name(table)}.{event}")


def partition_directory(table_location: str, event: int | str, partition: str) -> str:
    """Return the directory of a partition's content as of an event; `partition` is its name."""
    return join(table_location, CONTENTS, str(event), partition_path(partition))


def silent_key(event_id: int, token: str) -> str:
    """Return what stands for the event in the directory of content that no event told of."""
    return f"{event_id}-{token}"


def event_of_directory(name: str) -> int | None:
    """Return the event in the name of a table's directory, None for a name that is not ours."""
    match = _OURS.fullmatch(name)
    return int(match[2]) if match else None


def table_of_directory(name: str) -> str:
    """Return the name of the table that a directory was made for, which may have got another one since."""
    match = _OURS.fullmatch(name)
    return match[1] if match else name
