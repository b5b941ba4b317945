"""Keep the partitions of a metastore in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tests.support.hive import fake_messages as messages
from tests.support.hive.fake_state import MetastoreState, is_managed, owns_files, put_location, text_map
from twinhive.core.model.errors import AlreadyThere, Missing, Refused
from twinhive.core.model.files import qualified
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.objects import Partition, Table, TableKind
from twinhive.core.model.thrift_objects import fresh_partition, read_partition


class PartitionsInMemory(MetastoreState):
    """Read, add, alter, rename, exchange and drop partitions."""

    def partition_names(self, table: TableName) -> list[str]:
        """Return the names of all partitions, sorted. Raises Missing without such a table."""
        with self._call():
            self._existing(table)
            return sorted(self._partitions[table])

    def partition_names_with(self, table: TableName, values: Sequence[str]) -> list[str]:
        """Return the names of partitions with these values, sorted; '' stands for any value."""
        with self._call():
            self._existing(table)
            there = self._partitions[table].items()
            return sorted(
                name
                for name, partition in there
                if all(asked in ("", value) for asked, value in zip(values, partition.values, strict=True))
            )

    def partitions(self, table: TableName, names: Sequence[str]) -> list[Partition]:
        """Return the named partitions that exist, in the order of their names."""
        with self._call():
            there = self._partitions.get(table, {})
            found = (there[name] for name in sorted(set(names)) if name in there)
            return [one.at(one.table, one.location and qualified(one.location, self.file_system)) for one in found]

    def partition_locations(self, table: Table) -> list[tuple[str, str]]:
        """Return names and locations of all partitions, sorted by name. Raises Missing without such a table."""
        with self._call():
            self._existing(table.name)
            found = ((name, str(each.location)) for name, each in self._partitions[table.name].items())
            return sorted((name, qualified(location, self.file_system)) for name, location in found)

    def partition_locations_of(self, table: Table, names: Sequence[str]) -> list[tuple[str, str]]:
        """Return names and locations of the named partitions that exist, sorted by name."""
        wanted = set(names)
        return [one for one in self.partition_locations(table) if one[0] in wanted]

    def add_partitions(self, partitions: Sequence[Partition]) -> None:
        """Add partitions of one table, all or none. Raises AlreadyThere, Missing."""
        if not partitions:
            return
        (name,) = {partition.table for partition in partitions}
        with self._call():
            table = self._existing(name)
            added: dict[str, Partition] = {}
            for partition in partitions:
                called = _name(table, partition)
                if called in self._partitions[name] or called in added:
                    raise AlreadyThere(f"partition {called} of {name} exists already")
                place = f"{table.location}/{called}" if table.location else None
                location = partition.location and qualified(partition.location, self.file_system)
                added[called] = self._settled_partition(partition.at(name, location), place)
            self._add(table, added)

    def alter_partition(self, partition: Partition) -> None:
        """Replace one partition, as Hive's older call does: its event says what was before."""
        with self._call():
            table = self._existing(partition.table)
            before = self._existing_partition(table, partition.values)
            after = self._altered(table, partition)
            self._partitions[table.name][_name(table, after)] = after
            self._emit_on(table, "ALTER_PARTITION", messages.of_altered_partition(table, before, after))

    def alter_partitions(self, partitions: Sequence[Partition]) -> None:
        """Replace partitions of one table, found by their values, all or none. Raises Missing."""
        if not partitions:
            return
        (name,) = {partition.table for partition in partitions}
        with self._call():
            table = self._existing(name)
            after = [self._altered(table, partition) for partition in partitions]
            self._partitions[name] |= {_name(table, partition): partition for partition in after}
            self._emit_on(table, "ALTER_PARTITIONS", messages.of_altered_partitions(table, after))

    def rename_partition(self, values: Sequence[str], partition: Partition) -> None:
        """Give the partition with `values` the values and all else of `partition`.

        A managed table's partition goes to its default place. File statistics that differ from those it
        had are counted anew. Raises Missing, AlreadyThere, Refused.
        """
        with self._call():
            table = self._existing(partition.table)
            before = self._existing_partition(table, tuple(values))
            name = _name(table, partition)
            if name in self._partitions[table.name]:
                raise AlreadyThere(f"partition {name} of {table.name} exists already")
            if before.location is None:
                raise Refused(f"partition {name} of {table.name} has no location")
            location = f"{table.location}/{name}" if is_managed(table) else before.location
            if is_managed(table) and self._storage.exists(before.location) and self._storage.exists(location):
                raise Refused(f"partition {name} of {table.name}: {location} exists already")
            after = self._settled_partition(partition.at(table.name, location), location)
            self._storage.move(before.location, location)
            after = self._counted(before, after)
            del self._partitions[table.name][_name(table, before)]
            self._partitions[table.name][name] = after
            self._emit_on(table, "ALTER_PARTITION", messages.of_altered_partition(table, before, after))

    def drop_partitions(self, table: TableName, names: Sequence[str], *, delete_data: bool) -> None:
        """Drop partitions by name; those that do not exist are fine, a missing table is not."""
        if not names:
            return
        with self._call():
            found = self._existing(table)
            there = self._partitions[table]
            dropped = [there.pop(name) for name in sorted(set(names)) if name in there]
            if not dropped:
                return
            self._emit_on(found, "DROP_PARTITION", messages.of_dropped_partitions(found, dropped))
            recycles = self._recycles(found)
            for partition in dropped if delete_data and owns_files(found) else ():
                if recycles and self._storage.lacks(partition.location):
                    # Too late: it has been dropped, and its event is there.
                    raise Refused(f"dropping {len(dropped)} partitions of {table}: {partition.location} is not there")
                self._storage.remove(partition.location, recycles=recycles)

    def exchange_partitions(self, specification: Mapping[str, str], source: TableName, destination: TableName) -> None:
        """Move the partitions with these values, and their directories, into another table."""
        with self._call():
            given, taking = self._existing(source), self._existing(destination)
            chosen = {
                name: partition
                for name, partition in self._partitions[source].items()
                if specification.items() <= messages.values_of(given, partition).items()
            }
            if not chosen or chosen.keys() & self._partitions[destination].keys():
                raise Refused(f"{source}: {dict(specification)} cannot be exchanged with {destination}")
            moved = {name: partition.at(destination, f"{taking.location}/{name}") for name, partition in chosen.items()}
            for name, partition in chosen.items():
                self._storage.move(str(partition.location), str(moved[name].location))
                del self._partitions[source][name]
            self._add(taking, {name: self._settled_partition(each, "") for name, each in moved.items()})
            for partition in chosen.values():
                self._emit_on(given, "DROP_PARTITION", messages.of_dropped_partitions(given, [partition]))

    def _add(self, table: Table, added: dict[str, Partition]) -> None:
        self._partitions[table.name] |= added
        self._storage.make(*(partition.location for partition in added.values()))
        listed = table.kind is TableKind.MANAGED
        files = {name: self._storage.entries(each.location) if listed else [] for name, each in added.items()}
        self._emit_on(table, "ADD_PARTITION", messages.of_added_partitions(table, added, files))

    def _altered(self, table: Table, partition: Partition) -> Partition:
        before = self._existing_partition(table, partition.values)
        return self._settled_partition(partition, before.location)

    def _counted(self, before: Partition, after: Partition) -> Partition:
        """Count the files of a renamed partition, unless its file statistics are those that it had."""
        if _file_statistics(before) == _file_statistics(after) != {}:
            return after
        kept = {key: value for key, value in after.parameters.items() if key != "COLUMN_STATS_ACCURATE"}
        return self._settled_partition(after.with_parameters(kept | self._storage.count(after.location)), "")

    def _existing_partition(self, table: Table, values: tuple[str, ...]) -> Partition:
        there = self._partitions[table.name]
        if len(values) == len(table.partition_keys):
            found = there.get(partition_name(table.partition_keys, values))
            if found is not None and found.values == values:
                return found
        raise Missing(f"{table.name} has no partition {values}")

    def _settled_partition(self, partition: Partition, default_location: str | None) -> Partition:
        tree = fresh_partition(replace(partition, location=partition.location or default_location))
        parameters = tree["7"]["map"][3]
        tree["7"] = text_map({"transient_lastDdlTime": str(self._log.now()), **parameters})
        tree |= {"4": {"i32": self._log.now()}, "9": {"str": "hive"}, "10": {"i64": -1}}
        sd = tree["6"]["rec"]
        if serde := sd.get("7", {}).get("rec"):
            # Name, library and parameters: of others Hive's own queries know nothing.
            tree["6"] = {"rec": sd | {"7": {"rec": {field: serde[field] for field in "123" if field in serde}}}}
        if location := partition.location or default_location:
            put_location(tree, "6", location)
        return read_partition(tree)


def _name(table: Table, partition: Partition) -> str:
    if len(partition.values) != len(table.partition_keys):
        raise Refused(f"{table.name}: {partition.values} are not values of {table.partition_keys}")
    return partition.name(table.partition_keys)


def _file_statistics(partition: Partition) -> dict[str, str]:
    return {key: partition.parameters[key] for key in ("numFiles", "totalSize") if key in partition.parameters}
