"""Sync the data of external tables between two real clusters: HDFS on both sides, and a metastore that lists it."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.policies import PolicyFiles
from tests.support.users.warehouse import Warehouse
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import Attributes, relative_to
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.objects import Database
from twinhive.core.step.step_base import Work
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.replication.dump.passes.external_passes import locations_of_pass
from twinhive.replication.external_tables.check_base import CheckBase, release_base
from twinhive.replication.external_tables.list_external import ExternalListed, ListExternal
from twinhive.replication.external_tables.sync_external import ExternalSynced, SyncExternal
from twinhive.replication.replica.sync_records import Synced
from twinhive.transfer.tree.snapshots.snapshot_rotation import delete_snapshots

pytestmark = pytest.mark.sandbox


@dataclass
class Lane:
    """The data lane of one policy, whose replica follows."""

    database: str
    east: Warehouse
    west: Warehouse
    wiring: Any
    report: Callable[[str], None]

    @property
    def place(self) -> str:
        """Where the source's data is."""
        return f"{self.east.files.root}/data/{self.database}"

    @property
    def base(self) -> str:
        return f"{self.west.files.root}/ext/{self.database}"

    def there(self, location: str) -> str:
        """Return the replica's place of a source location."""
        return str(self.wiring.policy.external.place(location, location))

    def create(self, name: str, location: str, keys: tuple[str, ...] = (), **files: bytes) -> Any:
        contents = {path.replace("__", "/"): content for path, content in files.items()}
        return self.east.create_table(
            self.database,
            name,
            keys=keys,
            files=contents,
            location=location,
            kind="EXTERNAL_TABLE",
            parameters={"EXTERNAL": "TRUE"},
        )

    def work(self, batch: str = "", dump: str = "") -> Work:
        return Work(self.wiring.policy, batch, dump, {"run": "test"}, self.report)

    def cycle(self) -> tuple[ExternalListed, list[ExternalSynced]]:
        ports = self.wiring.write_ports()
        CheckBase(self.work()).run(ports)
        listed = ListExternal(self.work()).run(ports)
        return listed, [SyncExternal(self.work(batch.name, listed.dump)).run(ports) for batch in listed.batches]

    def assert_twin(self, location: str) -> None:
        """Check content, owner, group, permission and ACL of a directory and of all below it."""
        assert tree(self.west, self.there(location)) == tree(self.east, location)


def tree(side: Warehouse, root: str) -> dict[str, tuple[object, ...]]:
    """Return what is at and below a directory, by relative path, without what copies keep for themselves."""
    found: dict[str, tuple[object, ...]] = {}
    top = side.files.status(root)
    assert top is not None
    waiting = [top]
    while waiting:
        status = waiting.pop()
        content = None if status.is_directory else side.files.read(status.path)
        own = (status.owner, status.group, status.permission, side.files.acl(status.path))
        found[relative_to(status.path, root)] = (content, *own)
        if status.is_directory:
            ((_, children),) = side.files.list_directories([status.path])
            waiting += [child for child in children or () if "/.twinhive" not in child.path]
    return found


@pytest.fixture
def lane(
    east: Warehouse, west: Warehouse, policies: PolicyFiles, report: Callable[[str], None], request: Any
) -> Iterator[Lane]:
    database = east.create_database("data")
    external = {"base_directory": f"{west.files.root}/ext/{database}", **getattr(request, "param", {})}
    wiring = policies.wiring(policies.add(database, external_tables=external))
    ports = wiring.write_ports()
    state = ReplicaState(Phase.FOLLOWING, database, ports.source.log_id(), "d", Position(0, 1, "x"))
    ports.replica.create_database(Database(database, None, None, state.written(), "{}"))
    yield Lane(database, east, west, wiring, report)
    release_base(ports, wiring.policy)


def furnish(lane: Lane) -> dict[str, str]:
    """Make tables with partitions outside, a shared and a nested directory; return the places that are copied."""
    places = {name: f"{lane.place}/{name}" for name in ("events", "outside", "plain")}
    events = lane.create("events", places["events"], ("day",))
    lane.east.add_partition(events, "1", files={"f": b"one"})
    lane.east.add_partition(events, "a b", files={"f": b"two"}, location=f"{places['events']}/else where")
    lane.east.add_partition(events, "3", files={"f": b"three"}, location=places["outside"])
    lane.create("plain", places["plain"], f=b"plain", d__g=b"deep")
    lane.create("same", places["plain"])
    lane.create("nested", f"{places['plain']}/d")
    return places


def test_directories_come_over_and_a_second_pass_finds_them_unchanged(lane: Lane, log: list[str]) -> None:
    places = furnish(lane)
    own = ("user::rwx", "group::r-x", "mask::r-x", "other::---")
    acl = ("user:ann:r-x", *own, *(f"default:{entry}" for entry in own))
    lane.east.files.set_attributes(places["events"], Attributes(owner="ann", group="staff", permission=0o750, acl=acl))
    listed, synced = lane.cycle()
    keys = [entry.key for entry in locations_of_pass(lane.east.files, lane.wiring.policy, listed.dump)]
    names = ("events", "events/day=3", "nested", "plain", "same")
    assert keys == [f"{lane.database}.{name}" for name in names]
    assert (listed.copies, sum(each.changed for each in synced)) == (3, 3)
    for place in places.values():
        lane.assert_twin(place)
    assert lane.west.files.acl(lane.there(places["events"])) != ()
    above = lane.west.files.status(lane.base)
    assert above is not None
    assert above.owner == lane.west.cluster.user

    log.clear()
    newest = lane.wiring.write_ports().source.current_event_id()
    _, synced = lane.cycle()
    assert (sum(each.unchanged for each in synced), sum(each.changed for each in synced)) == (3, 0)
    assert sum("unchanged" in line for line in log) == 3
    records = Synced(lane.west.files, lane.wiring.policy)
    assert all(records.covers(f"{place}/x", newest) for place in places.values())


@pytest.mark.parametrize("lane", [{}, {"snapshots": True}], ids=["listed", "snapshots"], indirect=True)
def test_changes_without_any_event_are_followed(lane: Lane) -> None:
    places = furnish(lane)
    lane.cycle()
    east = lane.east.files
    east.write(f"{places['events']}/day=9/new", b"new")
    east.write(f"{places['plain']}/f", b"other")
    east.rename(f"{places['plain']}/d/g", f"{places['plain']}/d/h")
    east.delete(f"{places['events']}/else where")
    east.set_attributes(places["outside"], Attributes(permission=0o711))
    _, synced = lane.cycle()
    assert sum(each.changed for each in synced) == 3
    for place in places.values():
        lane.assert_twin(place)
    _, synced = lane.cycle()
    assert sum(each.unchanged for each in synced) == 3
    for place in places.values():
        delete_snapshots(east, place)


class Writer:
    """Commit files of a table by rename all the time, as a job does, and take earlier ones away, in a thread."""

    def __init__(self, files: HadoopFiles, place: str) -> None:
        self._files = files
        self._place = place
        self._stopping = threading.Event()
        self.commits = 0

    def __enter__(self) -> "Writer":
        self._thread = threading.Thread(target=self._work)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _work(self) -> None:
        for number in itertools.count():
            if self._stopping.is_set():
                return
            self._commit(number)
            self.commits = number

    def _commit(self, number: int) -> None:
        files, day = self._files, f"{self._place}/day={number % 3}"
        begun = f"{self._place}/_temporary/0/attempt_{number}/part-{number}"
        files.write(begun, b"x" * (number % 50 + 1))
        files.make_directories(day)
        files.rename(begun, f"{day}/part-{number}")
        files.delete(f"{self._place}/_temporary/0/attempt_{number}")
        files.delete(f"{self._place}/day={(number - 9) % 3}/part-{number - 9}")


@pytest.mark.thorough
def test_the_directory_of_a_table_that_is_written_to_all_the_time_is_complete(lane: Lane) -> None:
    place = f"{lane.place}/busy"
    lane.create("busy", place, ("day",), old=b"old")
    with Writer(lane.east.files, place) as writer:
        for turn in range(4):
            at_least = writer.commits + 10
            while writer.commits < at_least:
                time.sleep(0.01)
            if turn == 1:
                lane.east.files.delete(f"{place}/old")
            (synced,) = lane.cycle()[1]
            assert synced.changed == 1
            assert not [path for path in tree(lane.west, lane.there(place)) if "_temporary" in path]
    lane.cycle()
    assert "old" not in tree(lane.west, lane.there(place))
    lane.east.files.delete(f"{place}/_temporary")
    lane.assert_twin(place)


def test_what_is_wrong_with_one_directory_is_told_and_the_others_are_synced(lane: Lane, log: list[str]) -> None:
    places = furnish(lane)
    lane.east.files.delete(places["outside"])
    with pytest.raises(ActNow, match="does not exist on the source") as error:
        lane.cycle()
    assert f"{lane.database}.events/day=3: its directory {places['outside']} does not exist" in str(error.value)
    lane.assert_twin(places["events"])
    lane.assert_twin(places["plain"])
    assert any("FAILED" in line for line in log)


def test_what_copies_kept_where_no_table_uses_the_rows_any_more_goes_and_the_rows_stay(lane: Lane) -> None:
    places = furnish(lane)
    lane.cycle()
    ports, place = lane.wiring.write_ports(), lane.there(places["outside"])
    files = lane.west.files
    assert files.status(f"{place}/.twinhive")
    lane.east.client.drop_partition(lane.database, "events", ["3"], False)
    lane.cycle()
    assert files.status(f"{place}/.twinhive"), "the replica has not followed the drop"
    at = Position(ports.source.current_event_id(), 1, "x")
    state = ReplicaState(Phase.FOLLOWING, lane.database, ports.source.log_id(), "d", at)
    ports.replica.set_database_parameters(lane.database, state.written())
    _, synced = lane.cycle()
    assert (sum(each.unchanged for each in synced), sum(each.changed for each in synced)) == (2, 0)
    assert files.status(f"{place}/.twinhive") is None and files.read(f"{place}/f") == b"three"
    assert Synced(files, lane.wiring.policy).record_of(places["outside"]) is None


def test_another_policy_cannot_use_the_same_base_directory(lane: Lane, policies: PolicyFiles) -> None:
    furnish(lane)
    lane.cycle()
    other = lane.east.create_database("other")
    lane.east.create_table(
        other, "t", location=f"{lane.place}/t", kind="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE"}
    )
    wiring = policies.wiring(policies.add(other, external_tables={"base_directory": f"{lane.base}/inner"}))
    with pytest.raises(ActNow, match="in use") as error:
        CheckBase(Work(wiring.policy, holder={"run": "test"})).run(wiring.write_ports())
    assert f"policy {lane.database}" in str(error.value)
