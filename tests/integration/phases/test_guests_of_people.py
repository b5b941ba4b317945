"""On real servers a database that people write becomes a replica and a primary again: what is theirs stays theirs."""

from typing import Any
from uuid import uuid4

import pytest

from tests.support.policies import PolicyFiles
from tests.support.users.external_writer import ExternalWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.copies_world import contents
from twinhive.core.model.marks import DIRECTORY_MARK, own_marks
from twinhive.core.model.names import TableName
from twinhive.surfaces.cli.app import run

pytestmark = pytest.mark.sandbox

BESIDE = ("acid", "ice", "logs")
"""What the policies do not replicate."""
LONGEST = 118
"""So long is the database's name: what is added for what a failback keeps does not fit any more."""


class Place:
    """A followed database with a long name, and its users on both sides; the reverse policy is declared."""

    def __init__(self, policies: PolicyFiles, source: ThriftSource, east: Warehouse, west: Warehouse) -> None:
        self.policies, self.source, self.east, self.west = policies, source, east, west
        self.policy = f"guests_{uuid4().hex[:8]}"
        self.back = f"{self.policy}_back"
        self.name = self.policy.ljust(LONGEST, "l")
        policies.write(
            f"policies/{self.policy}.yaml",
            {
                "policy": self.policy,
                "source": {"cluster": "east", "database": self.name},
                "replica": {"cluster": "west", "database": self.name},
                "external_tables": {"include": False},
                "failover": {"reverse": {}, "quiet_seconds": 1},
            },
        )
        self.users = ExternalWriter.with_database(source, east.files, self.name)
        self._fill(f"hdfs://east/data/{self.policy}")
        policies.run(self.policy)

    def _fill(self, data: str) -> None:
        users = self.users
        users.create_table("plain", files={"f": b"z,3\n"})
        users.create_table("orders", ("day",))
        users.add_partitions("orders", {("1",): {"a": b"x,1\n"}, ("a b/ü",): {"b": b"y,2\n"}})
        insert_only = {"transactional": "true", "transactional_properties": "insert_only"}
        users.create_table("acid", ("day",), parameters=insert_only)
        users.add_partitions("acid", {("1",): {"delta_0000001_0000001_0000/000000_0": b"acid rows\n"}})
        iceberg = {"EXTERNAL": "TRUE", "table_type": "ICEBERG", "metadata_location": f"{data}/ice/metadata/v1.json"}
        for table, path, parameters in (("ice", "metadata/v1.json", iceberg), ("logs", "a", None)):
            users.create_external(table, location=f"{data}/{table}", parameters=parameters)
            users.files.write(f"{data}/{table}/{path}", b"rows\n")

    def type(self, *words: str) -> int:
        return run([*words, "--config", str(self.policies.directory)])

    def follow(self, policy: str) -> None:
        while not self.policies.follow(policy)["window"].idle:
            pass

    def beside(self) -> dict[str, Any]:
        """Return all that there is of what the policies do not replicate: as the metastore has it, and files."""
        found: dict[str, Any] = {}
        for table in self.source.tables(self.name, BESIDE):
            assert table.location is not None and not own_marks(table.parameters)
            assert not self.east.files.attribute(table.location, DIRECTORY_MARK)
            names = self.source.partition_names(table.name) if table.partition_keys else []
            parts = self.source.partitions(table.name, names)
            found[table.name.table] = table, parts, contents(self.east.files, table.location)
        return found


@pytest.fixture
def place(policies: PolicyFiles, source_metastore: ThriftSource, east: Warehouse, west: Warehouse) -> Place:
    return Place(policies, source_metastore, east, west)


def test_there_and_back_beside_what_is_not_replicated(place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    before = place.beside()
    assert set(before) == {*BESIDE} and all(files for _, _, files in before.values())
    assert place.type("failover", place.policy) == 0
    assert not {*BESIDE} & {*place.west.client.get_all_tables(place.name)}
    place.west.create_table(place.name, "new", files={"n": b"new in west\n"})
    place.users.insert("plain", None, {"late": b"v,5\n"})
    capfd.readouterr()

    # What the old primary has alone is kept, in a database whose name is cut.
    assert place.type("failback", place.back) == 0
    said = capfd.readouterr().out
    assert all(f"{table} (" in said for table in BESIDE)
    (kept,) = [one for one in place.source.database_names() if one.startswith(place.policy) and one != place.name]
    assert len(kept) == 128 and "__diverged_" in kept
    table = place.source.table(TableName(kept, "plain"))
    assert table is not None and b"v,5\n" in contents(place.east.files, str(table.location)).values()

    assert place.type("pause", place.back, "--off") == 0
    place.follow(place.back)
    assert place.source.table_names(place.name) == sorted([*BESIDE, "new", "orders", "plain"])
    assert place.beside() == before
    assert place.type("failover", place.back) == 0
    assert place.beside() == before

    # Now users of the primary take a table away that replication has made: Hive does not move its directory.
    archive = f"{place.policy}_archive"
    ExternalWriter.with_database(place.source, place.east.files, archive)
    home = place.users.location("new")
    assert home != place.users.default_location("new")
    place.users.rename_table("new", "new", database=archive)
    assert place.type("forget", place.back) == 0
    moved = place.source.table(TableName(archive, "new"))
    assert moved is not None and moved.location == home
    assert contents(place.east.files, home) == {"n": b"new in west\n"}
    assert place.beside() == before
