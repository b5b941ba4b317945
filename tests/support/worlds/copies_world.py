"""Be one metastore over two file systems in memory, with a placement, its users, and a judge of its copies."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from tests.support.builders import a_policy
from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hdfs.fake_lease import InMemoryLease
from tests.support.hive.fake_metastore import InMemoryMetastore
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.kept_marks import GuardedMetastore, kept_marks, mark_on
from twinhive.core.model.changes.events import Position
from twinhive.core.model.files import is_hidden, relative_to
from twinhive.core.model.names import TableName
from twinhive.core.model.placement.copy_marks import CopyMark, DirectoryState
from twinhive.core.model.placement.kept_copies import KeptCopies
from twinhive.core.model.policy import DatabaseAddress, Options, Policy
from twinhive.core.model.sets.own_tables import OWN_TABLES
from twinhive.core.ports import FileReader, MetastoreWriter, TreePorts, WritePorts
from twinhive.federation.placement.copied_objects import Marked, values_of
from twinhive.federation.placement.placement_events import read_news
from twinhive.federation.routing.nested_directories import states_like
from twinhive.hive.adapters.hive.hive_source_marker import MetastoreMarker
from twinhive.runtime.pipeline.phases import COPIES
from twinhive.runtime.pipeline.runner import run_phase

COPIES_ROOT = "hdfs://north/twinhive/copies"
HOMES = (COPIES_ROOT, "hdfs://north/home/", "hdfs://east/home/")
"""Where moves of primaries bring tables."""


def a_placement(**changes: Any) -> Policy:
    """Return a placement of all tables of `sales` on north."""
    options = {
        "copy_threads": 2,
        "batch_objects": 3,
        "partitions_per_call": 2,
        "grace_seconds": 0,
        "spark_above_files": 0,
    }
    copies = KeptCopies(COPIES_ROOT, default_cluster="east", **changes.pop("copies", {}))
    return a_policy(
        **{
            "name": "near",
            "source": DatabaseAddress("east", "sales"),
            "replica": DatabaseAddress("north", "sales"),
            "staging_root": "hdfs://north/twinhive/staging",
            "options": Options(**{**options, **changes.pop("options", {})}),
            "copies": copies,
            **changes,
        }
    )


class CopiesWorld:
    """Hold the metastore of `east`, the file systems of `east` and `north`, and a placement."""

    def __init__(self, placement: Policy | None = None) -> None:
        self.files = InMemoryFiles("hdfs://east")
        self.north = InMemoryFiles("hdfs://north")
        self.metastore = InMemoryMetastore(files=self.files, addresses=["east-metastore:9083"])
        self.metastore.configurations["east-metastore:9083"]["metastore.warehouse.dir"] = "hdfs://east/warehouse"
        self.lease = InMemoryLease()
        self.placement = placement or a_placement()
        self.users = SourceWriter.with_database(self.metastore, self.files, "sales")
        self.log: list[str] = []

    def ports(self) -> WritePorts:
        """Return fresh ports, through which nobody writes what people have written."""
        return WritePorts(
            source=self.metastore,
            replica=cast(MetastoreWriter, GuardedMetastore(self.metastore, HOMES)),
            source_files=self.files,
            replica_files=self.north,
            dump_files=self.north,
            lease=self.lease,
            source_marker=MetastoreMarker(self.metastore),
            trees=TreePorts(self.files, self.north, self.lease, self.files),
        )

    def run(self, ports: WritePorts | None = None) -> dict[str, Any]:
        """Bring the copies up to date, once."""
        return run_phase(COPIES, self.placement, ports or self.ports(), {"run": "r"}, self.log.append)

    def settle(self) -> dict[str, Any]:
        """Run until nothing is left to do."""
        for _ in range(5):
            if (results := self.run())["list_copies"].idle:
                return results
        raise AssertionError(f"it does not settle: {results}\n" + "\n".join(map(str, self.log[-20:])))

    def change(self, **changes: Any) -> None:
        """Let the placement say something else."""
        self.placement = replace(self.placement, **changes)

    def look(self, places: Mapping[str, DirectoryState]) -> dict[str, DirectoryState]:
        """Look at directories on both file systems, as readers do."""
        here = {place: state for place, state in places.items() if not place.startswith(self.north.root)}
        there = {place: state for place, state in places.items() if place not in here}
        return states_like(self.files, here) | states_like(self.north, there)

    def marked(self) -> dict[str, tuple[Marked, CopyMark]]:
        """Return all that has a mark, by table and partition."""
        found = {}
        for one, keys in self._objects():
            if mark := mark_on(self.metastore, one, "north"):
                name = one.name(keys) if keys else ""
                table = one.table.table if keys else one.name.table
                found[f"{table} {name}".strip()] = one, mark
        return found

    def fresh(self) -> dict[str, CopyMark]:
        """Return the copies that a reader on north may read: as a router judges, by the log and both directories."""
        found = {}
        for name, (one, mark) in self.marked().items():
            table = (one.table if values_of(one) is not None else one.name).table
            news = read_news(self.metastore, self.placement, Position(mark.event_id), "log-east")
            states = self.look({str(one.location): mark.directory, mark.location: mark.copy})
            is_whole = (states.get(str(one.location)), states.get(mark.location)) == (mark.directory, mark.copy)
            if is_whole and news.is_same(table, values_of(one), mark.event_id):
                found[name] = mark
        return found

    def assert_no_copy_lies(self) -> None:
        """Check that what a reader may read on north is exactly what it would read on east."""
        marked = self.marked()
        for name, mark in self.fresh().items():
            one, _ = marked[name]
            assert contents(self.north, mark.location) == contents(self.files, str(one.location)), name

    def assert_complete(self, *expected: str) -> None:
        """Check that just these have a copy, all of them fresh and true, and that nothing else is left."""
        assert sorted(self.fresh()) == sorted(self.marked()) == sorted(expected)
        assert len(kept_marks(self.metastore, cluster="north")) == len(expected)
        self.assert_no_copy_lies()
        places = {mark.location for mark in self.fresh().values()}
        for path in self.north.paths():
            if path.startswith(f"{COPIES_ROOT}/near/") and not self.north.status(path).is_directory:
                assert any(path.startswith(f"{place}/") for place in places), path

    def tables(self) -> list[str]:
        """Return the names of people's tables."""
        return [name for name in self.metastore.table_names("sales") if name not in OWN_TABLES]

    def _objects(self) -> Iterator[tuple[Marked, tuple[str, ...]]]:
        for name in self.tables():
            table = self.metastore.table(TableName("sales", name))
            if not table.partition_keys:
                yield table, ()
                continue
            for one in self.metastore.partitions(table.name, self.metastore.partition_names(table.name)):
                yield one, table.partition_keys


def contents(files: FileReader, directory: str) -> dict[str, bytes]:
    """Return what readers see below a directory, by relative path."""
    found, waiting = {}, [directory]
    while waiting:
        ((_, children),) = files.list_directories([waiting.pop()])
        for child in children or ():
            if is_hidden(child.path.rpartition("/")[2]):
                continue
            if child.is_directory:
                waiting.append(child.path)
            else:
                found[relative_to(child.path, directory)] = files.read(child.path)
    return found
