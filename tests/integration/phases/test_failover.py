"""A replica on real servers takes over: planned from a source that stands still, unplanned from one that is gone."""

from collections.abc import Callable

import pytest
from hive_metastore import ttypes
from thrift.Thrift import TException

from sandbox import Sandbox
from tests.support.policies import PolicyFiles
from tests.support.users.external_writer import ExternalWriter
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin
from tests.support.worlds.copies_world import contents
from tests.support.worlds.fake_world import Killed, KillSwitch, killable
from twinhive.core.model.errors import ActNow, Promoted, Refused, TryAgain
from twinhive.core.model.files import Attributes, base_name
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.promotion import How, Promotion
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_phase
from twinhive.surfaces.cli.app import run

pytestmark = pytest.mark.sandbox
HOLDER = {"run": "test", "task": "failover"}


class Place:
    """A followed database, and its users on both sides."""

    def __init__(self, policies: PolicyFiles, source: ThriftSource, east: Warehouse, west: Warehouse) -> None:
        self.policies, self.east, self.west = policies, east, west
        self.name = east.create_database("switched")
        self.users = SourceWriter(source, east.files, self.name)
        self.users.create_table("orders", ("day",))
        self.users.add_partitions("orders", {("1",): {"a": b"x,1\n"}, ("a b/ü",): {"b": b"y,2\n"}})
        self.users.create_table("plain", files={"f": b"z,3\n"})
        policies.add(self.name, external_tables={"include": False})
        policies.run(self.name)

    def fail_over(self, wait: Callable[[float], None]) -> list[str]:
        wiring = self.policies.wiring(self.name)
        return Failover(wiring.policy, HOLDER, wait=wait).run(wiring.write_ports())

    def type(self, *words: str) -> int:
        return run([*words, "--config", str(self.policies.directory)])

    @property
    def promotion(self) -> Promotion | None:
        return Promotion.read(self.west.client.get_database(self.name).parameters or {})


@pytest.fixture
def place(policies: PolicyFiles, source_metastore: ThriftSource, east: Warehouse, west: Warehouse) -> Place:
    return Place(policies, source_metastore, east, west)


def test_planned_from_a_source_that_stands_still(place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    place.users.overwrite("orders", ("1",), {"c": b"w,4\n"})
    while not place.policies.follow(place.name)["window"].idle:
        pass
    with pytest.raises(ActNow, match="is still written"):
        place.fail_over(lambda seconds: place.users.insert("plain", None, {"late": b"v,5\n"}))
    assert place.promotion is None
    while not place.policies.follow(place.name)["window"].idle:
        pass
    waited: list[float] = []
    lines = place.fail_over(waited.append)
    assert waited and any("equal at event" in line for line in lines)
    assert_equal_twin(place.east, place.name, place.west)
    found = place.promotion
    assert found is not None and found.how is How.PLANNED
    database = place.west.client.get_database(place.name)
    assert not any(key.startswith("repl.") for key in database.parameters)

    # Users go on there: what they drop and add again does not bring old rows back.
    west = place.west.client
    table = west.get_table_req(ttypes.GetTableRequest(dbName=place.name, tblName="orders")).table
    old = west.get_partition(place.name, "orders", ["1"])
    west.drop_partition(place.name, "orders", ["1"], True)
    home = f"{table.sd.location}/day=1"
    place.west.files.write(f"{home}/ours", b"n,6\n")
    added = ttypes.Partition(values=["1"], dbName=place.name, tableName="orders", parameters={}, sd=old.sd)
    added.sd.location = home
    west.add_partition(added)
    held = [child.path.rpartition("/")[2] for _, page in place.west.files.list_directories([home]) for child in page]
    assert held == ["ours"]

    before = west.get_database(place.name).parameters
    place.users.insert("plain", None, {"too late": b"u,7\n"})
    with pytest.raises(Promoted):
        place.policies.follow(place.name)
    assert west.get_database(place.name).parameters == before
    capfd.readouterr()
    assert place.type("run", place.name, "scan") == 4
    said = capfd.readouterr().err
    assert "has taken over" in said and f"twinhive status {place.name}" in said
    assert place.type("status", place.name) == 0
    assert "has taken over" in capfd.readouterr().out


@pytest.mark.thorough
def test_writers_are_kept_out_and_let_in_again(place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    place.policies.add(place.name, external_tables={"include": False}, failover={"fence": ["quota"]})
    refused: list[str] = []

    def write(seconds: float) -> None:
        """Write as users do who have not heard of it: rows have no room, a comment has."""
        with pytest.raises(Refused, match="quota") as caught:
            place.users.insert("plain", None, {"late": b"v,5\n"})
        refused.append(str(caught.value))
        client = place.east.client
        table = client.get_table_req(ttypes.GetTableRequest(dbName=place.name, tblName="plain")).table
        client.alter_table(
            place.name, "plain", ttypes.Table(**{**vars(table), "parameters": {**table.parameters, "comment": "c"}})
        )

    assert place.type("failover", place.name, "--dry-run") == 0
    assert "would let no new file into" in capfd.readouterr().out
    with pytest.raises(TryAgain, match="is not at the source's newest event"):
        place.fail_over(lambda seconds: None)  # the mark of the fence is an event of the database
    while not place.policies.follow(place.name)["window"].idle:
        pass
    with pytest.raises(ActNow, match=r"(?s)still written behind its fence.*ALTER_TABLE"):
        place.fail_over(write)
    assert refused and place.promotion is None
    assert place.type("failover", place.name, "--abort") == 0
    assert "its writers may write" in capfd.readouterr().out
    place.users.insert("plain", None, {"later": b"v,6\n"})
    assert place.type("failover", place.name) == 0
    assert place.promotion is not None
    assert_equal_twin(place.east, place.name, place.west)
    with pytest.raises(Refused, match="quota"):
        place.users.insert("plain", None, {"too late": b"v,7\n"})
    assert place.type("failover", place.name, "--abort") == 4
    assert "cannot be aborted" in capfd.readouterr().err


@pytest.mark.thorough
def test_what_a_truncate_behind_the_fence_deletes_is_there_again_after_an_abort(
    place: Place, sandbox: Sandbox, capfd: pytest.CaptureFixture[str]
) -> None:
    place.policies.add(place.name, external_tables={"include": False}, failover={"fence": ["quota"]})
    client, files = place.east.client, place.east.files
    plain = str(client.get_table_req(ttypes.GetTableRequest(dbName=place.name, tblName="plain")).table.sd.location)
    home = plain.rpartition("/")[0]
    before = contents(files, plain)
    assert place.type("check", place.name, "--failover") in (0, 3, 4)
    assert "hdfs dfsadmin -allowSnapshot" in "".join(capfd.readouterr())
    sandbox.dfsadmin("east", "-allowSnapshot", home)
    with pytest.raises(TryAgain, match="is not at the source's newest event"):
        place.fail_over(lambda seconds: None)
    with pytest.raises((TException, ttypes.MetaException)):
        client.truncate_table(place.name, "plain", [])
    place.east.reconnect()
    assert before and files.status(plain) is None
    capfd.readouterr()
    assert place.type("failover", place.name, "--abort", "--dry-run") == 0
    assert "would bring back what was deleted behind the fence of: plain" in capfd.readouterr().out
    assert place.type("failover", place.name, "--abort") == 0
    assert f"brought back: {len(before)} files of plain" in capfd.readouterr().out
    assert contents(files, plain) == before
    assert files.snapshots(home) == []
    place.users.insert("plain", None, {"later": b"v,6\n"})
    while not place.policies.follow(place.name)["window"].idle:
        pass
    assert_equal_twin(place.east, place.name, place.west)


def test_there_and_back_again(place: Place, policies: PolicyFiles, capfd: pytest.CaptureFixture[str]) -> None:
    at = place.west.client.get_database(place.name).parameters["repl.last.id"]
    place.users.insert("orders", ("1",), {"lost": b"v,5\n"})
    assert place.type("failover", place.name, "--unplanned", "--at", at, "--reason", "rehearsal") == 0
    west = place.west
    table = west.client.get_table_req(ttypes.GetTableRequest(dbName=place.name, tblName="orders")).table
    west.add_partition(table, "new in west", files={"n": b"n,6\n"})
    back = f"{place.name}_back"
    sides = {"source": "west", "replica": "east"}
    policies.write(
        f"policies/{back}.yaml",
        {
            "policy": back,
            "external_tables": {"include": False},
            **{side: {"cluster": name, "database": place.name} for side, name in sides.items()},
        },
    )
    assert place.type("failback", back) == 0
    capfd.readouterr()
    assert place.type("resync", back, "--all", "--dry-run") == 0
    said = capfd.readouterr().out
    assert "new in west" in said and "day=1" in said
    assert place.type("pause", back, "--off") == 0
    while not policies.follow(back)["window"].idle:
        pass
    assert_equal_twin(west, place.name, place.east)
    kept = place.east.client.get_partition(f"{place.name}__diverged_{at}", "orders", ["1"])
    assert place.east.files.read(f"{kept.sd.location}/lost") == b"v,5\n"
    assert place.type("verify", back) == 0
    wiring = policies.wiring(back)
    Failover(wiring.policy, HOLDER, wait=lambda seconds: None).run(wiring.write_ports())
    place.users.insert("plain", None, {"f2": b"u,7\n"})
    assert place.type("failback", place.name) == 0
    assert place.type("pause", place.name, "--off") == 0
    while not policies.follow(place.name)["window"].idle:
        pass
    assert_equal_twin(place.east, place.name, west)


def test_unplanned_from_a_source_that_is_gone(
    place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    begin = place.west.client.get_database(place.name).parameters["repl.last.id"]
    place.users.insert("plain", None, {"staged": b"s,8\n", "and more": b"t,9\n"})
    place.users.insert("orders", ("1",), {"b": b"u,10\n", "c": b"v,11\n"})
    at = str(place.east.client.get_current_notificationEventId().eventId)
    wiring = place.policies.wiring(place.name)
    run_phase(INCREMENTAL[:2], wiring.policy, wiring.write_ports(), HOLDER, lambda line: None)
    dying = killable(wiring.write_ports(), KillSwitch(3, after_effect=True))
    with pytest.raises(Killed):
        run_phase(INCREMENTAL[2:], wiring.policy, dying, HOLDER, lambda line: None)
    assert place.west.client.get_database(place.name).parameters["repl.last.id"] == begin
    place.users.insert("plain", None, {"lost": b"v,5\n"})
    monkeypatch.setenv("AIRFLOW_CONN_EAST_METASTORE", "thrift://127.0.0.1:1")
    monkeypatch.setenv("AIRFLOW_CONN_EAST_HDFS", "hdfs://hdfs@127.0.0.1:1")
    assert place.type("failover", place.name, "--unplanned", "--dry-run") == 0
    said = capfd.readouterr().out
    assert f"after event {at}" in said.replace("\n", " ") and f"--at {at}" in said.replace("\n", " ")
    assert place.promotion is None
    assert place.type("failover", place.name, "--unplanned", "--at", "1", "--reason", "fire") == 4
    assert place.type("failover", place.name, "--unplanned", "--at", at, "--reason", "fire in the hall") == 0
    found = place.promotion
    assert found is not None and (found.how, str(found.position.event_id)) == (How.UNPLANNED, at)
    plain = place.west.client.get_table_req(ttypes.GetTableRequest(dbName=place.name, tblName="plain")).table
    ((_, there),) = place.west.files.list_directories([plain.sd.location])
    assert sorted(base_name(one.path) for one in there or ()) == ["and more", "f", "staged"]
    (day,) = place.west.client.get_partitions_by_names(place.name, "orders", ["day=1"])
    ((_, there),) = place.west.files.list_directories([day.sd.location])
    assert sorted(base_name(one.path) for one in there or ()) == ["a", "b", "c"]
    capfd.readouterr()
    assert place.type("status", place.name) == 0
    assert "has taken over" in capfd.readouterr().out
    place.west.client.drop_table(place.name, "plain", True)


@pytest.mark.nightly(
    "tests/integration/phases/test_failover.py::test_there_and_back_again",
    "tests/unit/operations/failover/test_failback_external.py",
)
def test_external_tables_there_and_back(
    policies: PolicyFiles, source_metastore: ThriftSource, east: Warehouse, west: Warehouse
) -> None:
    """Tables with data of their own, and partitions elsewhere, return to the very paths that they came from."""
    name = east.create_database("switched_ext")
    data, base = f"hdfs://east/data/{name}", f"hdfs://west/ext/{name}"
    users = ExternalWriter(source_metastore, east.files, name)
    users.create_external("days", ("day",), f"{data}/days")
    users.add_external("days", ("1",), ("2",))
    users.add_external("days", ("far",), below=f"{data}/elsewhere")
    written = {"days/day=1/a": b"1\n", "days/day=2/a": b"2\n", "elsewhere/day=far/a": b"f\n"}
    for path, content in written.items():
        east.files.write(f"{data}/{path}", content)
    policies.add(name, external_tables={"base_directory": base}, failover={"reverse": {}, "fence": ["quota"]})
    back, directory = f"{name}_back", ["--config", str(policies.directory)]
    policies.run(name)

    def settled(policy: str) -> None:
        for _ in range(2):
            while not policies.follow(policy)["window"].idle:
                pass
            policies.copy_external(policy)
        assert run(["verify", policy, *directory]) == 0

    def places(side: Warehouse) -> dict[str, bytes]:
        found = side.client.get_partitions_by_names(name, "days", side.client.get_partition_names(name, "days", -1))
        listed = side.files.list_directories([one.sd.location for one in found])
        return {one.path: side.files.read(one.path) for _, page in listed for one in page or () if not one.is_directory}

    assert run(["failover", name, *directory]) == 0
    west.files.write(f"{base}/data/{name}/days/day=1/new in west", b"w\n")
    east.files.delete_file(f"{data}/days/day=2/a")  # the fence has no word against it
    east.files.write(f"hdfs://east/mine/{name}", b"somebody else's")
    assert run(["failback", back, "--dry-run", *directory]) == 0
    assert run(["failback", back, *directory]) == 0
    assert run(["pause", back, "--off", *directory]) == 0
    settled(back)
    expected = {f"{data}/{path}": content for path, content in written.items()}
    assert places(east) == {**expected, f"{data}/days/day=1/new in west": b"w\n"}

    assert run(["failover", back, *directory]) == 0
    users.add_external("days", ("3",))
    east.files.write(f"{data}/days/day=3/a", b"3\n")
    assert run(["failback", name, *directory]) == 0
    assert run(["pause", name, "--off", *directory]) == 0
    settled(name)
    assert places(west)[f"{base}/data/{name}/days/day=3/a"] == b"3\n"
    assert set(places(west)) == {path.replace("hdfs://east", base) for path in places(east)}


def attributes(side: Warehouse, database: str) -> dict[str, tuple[str, str, int, frozenset[str]]]:
    """Return owner, group, permission and ACL of the directories and files of `orders`, by place in the table."""
    table = side.client.get_table_req(ttypes.GetTableRequest(dbName=database, tblName="orders")).table
    parts = side.client.get_partitions_by_names(database, "orders", ["day=1", "day=2", "day=empty"])
    places = {"": table.sd.location, **{one.values[0]: one.sd.location for one in parts}}
    found = {}
    for leaf, place in places.items():
        listed = side.files.list_directories([place] if leaf else [])
        paths = [
            place,
            *(one.path for _, page in listed for one in page or () if not base_name(one.path).startswith("_")),
        ]
        for path in paths:
            status = side.files.status(path)
            assert status is not None
            name = leaf + path.removeprefix(place)
            found[name] = status.owner, status.group, status.permission, frozenset(side.files.acl(path))
    return found


@pytest.mark.nightly(
    "tests/integration/phases/test_failover.py::test_there_and_back_again",
    "tests/unit/operations/failover/test_failover.py",
)
def test_other_users_write_a_promoted_replica_as_they_wrote_the_source(
    policies: PolicyFiles, source_metastore: ThriftSource, east: Warehouse, west: Warehouse
) -> None:
    """With `permissions: source` owner, group, permission and ACL come along, by a first copy and by events."""
    name = east.create_database("owned")
    users = SourceWriter(source_metastore, east.files, name)
    users.create_table("orders", ("day",))
    users.add_partitions("orders", {("1",): {"a": b"x,1\n"}})
    acl = ("user::rwx", "group::r-x", "other::---", "user:bob:rwx", "default:user:bob:rwx")
    ann = Attributes(owner="ann", group="sales", permission=0o750, acl=acl)

    def own(*leaves: str) -> None:
        """Let all that there is be ann's, and her group's, and bob's by ACL."""
        home = users.location("orders")
        for directory in (home, *(f"{home}/{leaf}" for leaf in leaves)):
            east.files.set_attributes(directory, ann)
        for _, page in east.files.list_directories([f"{home}/{leaf}" for leaf in leaves]):
            for one in page or ():
                east.files.set_attributes(one.path, Attributes(owner="ann", group="sales", permission=0o640))

    own("day=1")
    policies.add(name, external_tables={"include": False}, options={"permissions": "source"})
    policies.run(name)
    users.add_partitions("orders", {("2",): {"a": b"x,1\n"}, ("empty",): {}})
    own("day=2", "day=empty")
    while not policies.follow(name)["window"].idle:
        pass

    said = attributes(west, name)
    assert said == attributes(east, name)
    assert said[""][0] == said["2"][0] == said["2/a"][0] == "ann" and said["2"][3]

    assert run(["failover", name, "--config", str(policies.directory)]) == 0
    (part,) = west.client.get_partitions_by_names(name, "orders", ["day=2"])
    cluster = west.cluster
    for user, may in (("ann", True), ("bob", True), ("stranger", False)):
        theirs = HadoopFiles(cluster.hdfs_uri, cluster.hadoop_properties, user)
        if may:
            theirs.write(f"{part.sd.location}/by {user}", b"n,6\n")
        else:
            with pytest.raises(Refused, match=r"(?i)permission denied"):
                theirs.write(f"{part.sd.location}/by {user}", b"n,6\n")
        theirs.close()
