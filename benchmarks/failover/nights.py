"""Measure what proof of equality costs: the first night, the second one, and memory, on leaves that are made up.

Servers are not asked: what is counted are their calls, and what the process itself takes for each leaf.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.measuring import measured
from tests.support.builders import a_policy
from tests.support.hive.metastore_objects import a_partition, a_table
from twinhive.core.model.changes.events import Position
from twinhive.core.model.files import FileStatus
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.replication.comparison.leaf_reader import Side, SideRole
from twinhive.replication.verify.ledger_files import KeptLedger
from twinhive.replication.verify.ledger_refresh import Due, TableRead, read_table, with_checksums_of_both
from twinhive.replication.verify.table_verdicts import compare
from twinhive.replication.verify.touched_leaves import TouchedLeaves

_PAGE = 1_000
_DAY = 20_000
Calls = Counter[str]


class MadeUpMetastore:
    """A metastore with one large table after the other, each partition with one file."""

    def __init__(self, root: str, partitions: int, calls: Calls) -> None:
        self.root, self.count, self.calls = root, partitions, calls
        self.sample: Partition | None = None

    def table_named(self, name: TableName) -> Table:
        """Return a table of this side."""
        table = a_table(name.database, name.table, ("p",), location=f"{self.root}/{name.table}")
        self.sample = a_partition(table, "0", parameters={"numFiles": "1", "totalSize": "100"})
        return table

    def partition_locations(self, table: Table) -> list[tuple[str, str]]:
        """Return all partitions, as one call does."""
        self.calls["partition_locations"] += 1
        return [(f"p={number}", f"{table.location}/p={number}") for number in range(self.count)]

    def partition_names(self, table: TableName) -> list[str]:
        """Return the names of all partitions."""
        self.calls["partition_names"] += 1
        return [f"p={number}" for number in range(self.count)]

    def partition_locations_of(self, table: Table, names: Sequence[str]) -> list[tuple[str, str]]:
        """Return some partitions."""
        self.calls["partition_locations"] += 1
        return [(name, f"{table.location}/{name}") for name in names]

    def partitions(self, table: TableName, names: Sequence[str]) -> Iterator[Partition]:
        """Return some partitions."""
        self.calls["partitions"] += 1
        assert self.sample is not None
        for name in names:
            made = self.sample.at(table, f"{self.root}/{table.table}/{name}")
            yield Partition(made.table, (name[2:],), made.location, made.parameters, made.thrift)

    def constraints(self, table: TableName) -> tuple[()]:
        """No table has any."""
        self.calls["constraints"] += 1
        return ()


class MadeUpFiles:
    """The directories of these partitions, with one file in each; what one call lists is 1,000 entries at most."""

    def __init__(self, partitions: int, calls: Calls) -> None:
        self.count, self.calls = partitions, calls

    def list_pages(self, paths: Iterable[str]) -> Iterator[tuple[str, list[FileStatus]]]:
        """List the directories of partitions, or of tables: all their partitions."""
        for path in paths:
            if "/p=" in path:
                self.calls["listing"] += 1
                yield path, [FileStatus(f"{path}/000000_0", 100, 7)]
                continue
            for start in range(0, self.count, _PAGE):
                self.calls["listing"] += 1
                some = range(start, min(start + _PAGE, self.count))
                yield path, [FileStatus(f"{path}/p={number}", 0, 7, True, number) for number in some]

    def checksum(self, path: str, form: object) -> str:
        """Return one that is the same on both sides."""
        self.calls["checksum"] += 1
        return path[-16:]


class Night:
    """What both sides remember of a table, from one night to the next."""

    def __init__(self, partitions: int) -> None:
        self.calls: Calls = Counter()
        policy = a_policy()
        stores = (("hdfs://east/w", SideRole.SOURCE), ("hdfs://west/w", SideRole.REPLICA))
        self.sides = [
            Side(role, MadeUpMetastore(root, partitions, self.calls), MadeUpFiles(partitions, self.calls), policy)  # type: ignore[arg-type]
            for root, role in stores
        ]

    def verify(self, table: str, places: Sequence[Path], day: int) -> None:
        """Compare a table; what is remembered of both sides lies in files, as it does in staging."""
        reads: list[TableRead] = []
        for side, place in zip(self.sides, places, strict=True):
            before = KeptLedger.unpacked(place.read_bytes(), table) if place.exists() else None
            described = side.metastore.table_named(side.name(table))  # type: ignore[attr-defined]
            reads.append(read_table(side, described, before, TouchedLeaves(), Due(day)))
        source, replica = with_checksums_of_both(reads[0], reads[1])
        compared, source, replica = compare(source, replica, table)
        assert not compared.differences
        for one, place in zip((source, replica), places, strict=True):
            place.write_bytes(KeptLedger(one.ledger, 1, Position(1), day).packed(table))


def nights(leaves: int, tables: int, kept: str) -> None:
    """Print what the first nights of a verification take; ledgers lie in the directory `kept`."""
    night = Night(leaves // tables)
    places = {f"t{number}": [Path(kept, f"{number}-{side}") for side in (0, 1)] for number in range(tables)}
    print(f"{leaves:,} leaves in {tables} tables\n")
    print("| night | seconds | CPU seconds | calls | peak MiB |\n|---|---|---|---|---|")
    for name, day in (
        ("first", _DAY),
        ("second, the same day", _DAY),
        ("another day: a thirtieth of the checksums", _DAY + 1),
    ):
        night.calls.clear()
        began = time.process_time()
        with measured() as taken:
            for table, both in places.items():
                night.verify(table, both, day)
        cpu, calls = time.process_time() - began, sum(night.calls.values())
        print(f"| {name} | {taken.seconds:.0f} | {cpu:.0f} | {calls:,} | {taken.peak_mib} |", flush=True)
    print(
        "\nledgers: "
        + f"{sum(one.stat().st_size for both in places.values() for one in both) / 2**20:.0f} MiB for both sides"
    )
