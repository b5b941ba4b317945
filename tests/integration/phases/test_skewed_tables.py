"""Tables whose values have directories of their own (list bucketing) are replicated as any other, and stop nobody."""

from collections.abc import Iterator
from typing import Any

import pytest
from hive_metastore import ttypes
from thrift.TRecursive import fix_spec

from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin
from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.tjson import from_text
from twinhive.core.step.step_base import Work
from twinhive.hive.adapters.hive.client_bindings import read_lists_that_are_keys
from twinhive.operations.actions.resync import Resync
from twinhive.replication.scan.scan import Scan
from twinhive.replication.verify.verify import Verify

pytestmark = [pytest.mark.sandbox, pytest.mark.thorough]

VALUES = [("1", "x y"), ("2", "ü/="), ("3", 'a"]:')]
PLACES = {values: partition_name(("a", "b"), values) for values in VALUES}
"""Where Hive puts the rows of each."""


class Skewed:
    """A policy of a database whose tables are skewed, and of the users who write them."""

    def __init__(self, policies: PolicyFiles, east: Warehouse, west: Warehouse, report: Any) -> None:
        self.policies, self.east, self.west, self.report = policies, east, west, report
        self.database = east.create_database("skewed")
        self.metastore = west_of(east)
        self.writer = SourceWriter(self.metastore, east.files, self.database)
        self.twin = f"{self.database}_twin"
        self.options: dict[str, Any] = {"second_look_seconds": 0}

    def create(self, name: str, keys: tuple[str, ...] = ()) -> None:
        """Create a table as Hive leaves it after an insert: each of the values has a directory with a file."""
        table = self.east.create_table(self.database, name, keys=keys, files={} if keys else self.files(name))
        self.give_directories(table, table)
        self.east.client.alter_table(self.database, name, table)

    def add_partition(self, name: str, value: str) -> None:
        """Add a partition, and then its directories, as Hive does."""
        table = self.read_table(self.east, self.database, name)
        self.east.add_partition(table, value, files=self.files(value))
        (one,) = self.east.client.get_partitions_ps(self.database, name, [value], -1)
        self.give_directories(one, table)
        self.east.client.alter_partition(self.database, name, one)

    def files(self, content: str) -> dict[str, bytes]:
        return {f"{place}/f": f"{content} {place}".encode() for place in PLACES.values()}

    def give_directories(self, one: Any, table: Any) -> None:
        places = {values: f"{one.sd.location}/{place}" for values, place in PLACES.items()}
        one.sd.skewedInfo = ttypes.SkewedInfo(["a", "b"], [list(values) for values in VALUES], places)
        one.sd.storedAsSubDirectories = True

    def read_table(self, side: Warehouse, database: str, name: str) -> Any:
        request = ttypes.GetTableRequest(dbName=database, tblName=name)
        return side.client.get_table_req(request).table

    def start(self) -> None:
        self.policies.add(self.database, replica=self.twin, options=self.options)
        self.policies.run(self.database, report=self.report)

    def follow(self) -> None:
        while not self.policies.follow(self.database, self.report)["window"].idle:
            pass

    def work(self) -> Work:
        return Work(self.policies.wiring(self.database).policy, holder={"run": "skewed"}, report=self.report)

    def assert_twin(self, *tables: str) -> None:
        """Compare all, also by `verify`; and no place of the twin is one of the source's."""
        assert_equal_twin(self.east, self.database, self.west, self.twin)
        ports = self.policies.wiring(self.database).write_ports()
        verified = Verify(self.work(), deep=True, wait=lambda seconds: None).run(ports)
        assert not verified.found and not verified.suspects and not verified.not_judged, verified
        for name in tables:
            table = self.read_table(self.west, self.twin, name)
            parts = self.west.client.get_partitions(self.twin, name, -1) if table.partitionKeys else []
            for one in parts or [table]:
                places = one.sd.skewedInfo.skewedColValueLocationMaps
                assert places == {values: f"{one.sd.location}/{place}" for values, place in PLACES.items()}
                assert one.sd.location.startswith("hdfs://west")
                assert all(self.west.files.status(f"{place}/f") for place in places.values())


def west_of(side: Warehouse) -> ThriftSource:
    cluster = side.cluster
    return ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)


@pytest.fixture
def skewed(policies: PolicyFiles, east: Warehouse, west: Warehouse, report: Any) -> Iterator[Skewed]:
    found = Skewed(policies, east, west, report)
    yield found
    found.metastore.close()


def test_skewed_tables_and_partitions_through_every_way(skewed: Skewed) -> None:
    skewed.create("plain")
    skewed.create("parts", keys=("p",))
    skewed.add_partition("parts", "1")
    skewed.start()
    skewed.assert_twin("plain", "parts")
    # By events.
    skewed.create("later")
    skewed.add_partition("parts", "a b")
    skewed.create("more", keys=("p",))
    skewed.add_partition("more", "1")
    skewed.follow()
    skewed.assert_twin("plain", "parts", "later", "more")
    # By scan: a write that no event tells.
    skewed.east.files.write(
        f"{skewed.east.location(skewed.database, 'plain')}/{PLACES[VALUES[0]]}/silent", b"said by nobody"
    )
    ports = skewed.policies.wiring(skewed.database).write_ports()
    scanned = Scan(skewed.work(), deep=True, wait=lambda seconds: None).run(ports)
    assert len(scanned.followed) == 1
    skewed.assert_twin("plain", "parts", "later", "more")
    for name in ("plain", "parts"):
        Resync(skewed.work().policy, name, {"by": "test"}).run(ports)
    skewed.follow()
    skewed.assert_twin("plain", "parts", "later", "more")
    # A rename leaves what the map of a table says behind.
    skewed.writer.rename_table("later", "renamed")
    skewed.follow()
    skewed.assert_twin("renamed")


@pytest.fixture
def unmended() -> Iterator[None]:
    """Take the mend of the bindings back: then the server holds an object that cannot be read."""
    mended = ttypes.SkewedInfo.thrift_spec
    *others, (number, kind, name, (key_kind, (item_kind, item, _), *values), default) = mended
    ttypes.SkewedInfo.thrift_spec = (
        *others,
        (number, kind, name, (key_kind, (item_kind, item, False), *values), default),
    )
    fix_spec([ttypes.StorageDescriptor])
    yield
    read_lists_that_are_keys()


@pytest.mark.usefixtures("unmended")
def test_beside_an_object_that_cannot_be_read_other_databases_are_replicated(
    policies: PolicyFiles, east: Warehouse, west: Warehouse, report: Any
) -> None:
    lines: list[str] = []
    theirs = Skewed(policies, east, west, report)
    theirs.create("plain")
    others = Skewed(policies, west, east, report)  # also on the replica's side
    others.create("plain")
    database = east.create_database("beside")
    east.create_table(database, "t", files={"f": b"one"})
    policies.add(database)
    policies.run(database, report=lambda line: lines.append(str(line)))
    said = [line for line in lines if "left out of the look" in line]
    assert any(f"plain of {theirs.database}" in line for line in said)
    assert any(f"plain of {others.database}" in line for line in said)
    assert_equal_twin(east, database, west)
    with pytest.raises(ActNow, match=rf"plain of {theirs.database}.*cannot be read"):
        theirs.start()
    theirs.options = {"on_object_error": "quarantine"}
    east.create_table(theirs.database, "readable", files={"f": b"one"})
    theirs.start()
    metastore = west_of(west)
    assert metastore.table_names(theirs.twin) == ["readable"]
    metastore.close()
    for one in (theirs, others):
        one.metastore.close()


def test_a_place_of_the_source_is_never_said(skewed: Skewed) -> None:
    """Whatever a map says: what lies elsewhere is looked for where Hive would have put it."""
    table = skewed.east.create_table(skewed.database, "t", files=skewed.files("x"))
    skewed.give_directories(table, table)
    table.sd.skewedInfo.skewedColValueLocationMaps[VALUES[0]] = "hdfs://east/tmp/elsewhere"
    skewed.east.client.alter_table(skewed.database, "t", table)
    skewed.start()
    assert_equal_twin(skewed.east, skewed.database, skewed.west, skewed.twin)
    metastore = west_of(skewed.west)
    found = metastore.table(TableName(skewed.twin, "t"))
    metastore.close()
    assert found is not None
    places = from_text(found.thrift)["7"]["rec"]["11"]["rec"]["3"]["map"][3]
    assert all(place.startswith(f"{found.location}/") for place in places.values())
    assert set(places.values()) == {f"{found.location}/{place}" for place in PLACES.values()}
