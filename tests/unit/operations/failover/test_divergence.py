"""Rows that only the old primary has are kept, whoever writes it meanwhile, or the failback is refused."""

import gc
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.support import seeds
from tests.support.hdfs.fake_lease import InMemoryLease
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.copies import copies_of
from tests.support.worlds.fake_world import REPLICA_ADDRESS, SOURCE_ADDRESS, tuned
from tests.unit.operations.failover.test_failback import BACK, HOLDER, Switched, kept, of_another_policy
from tests.unit.operations.failover.test_failback_external import BACK_EXTERNAL, SwitchedExternals
from tests.unit.operations.failover.test_readiness import READY
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.changes.events import NOWHERE, Position
from twinhive.core.model.errors import ActNow, Foreign, TryAgain
from twinhive.core.model.files import base_name
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import PHASE, STAMP
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import DatabaseAddress
from twinhive.core.model.quarantine import with_frozen
from twinhive.core.ports import Lease, WritePorts
from twinhive.operations.failover.divergence import diverged_backup, late_writes
from twinhive.operations.failover.divergence.diverged_backup import kept_database, old_primary_log
from twinhive.operations.failover.divergence.diverged_tables import LEAVES_AT_ONCE, DivergedTables
from twinhive.operations.failover.divergence.old_primary_log import OldPrimaryLog
from twinhive.operations.failover.failback import Failback
from twinhive.operations.failover.old_primary import QuietOldPrimary
from twinhive.operations.failover.promotion import ASKED_FOR, How, Promotion, behind_when_promoted
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.replication.comparison.leaf_reader import LeafState
from twinhive.replication.operator_requests.request_files import request_everything, request_table, skip_event

LATE = b"late, and acknowledged"
KEPT_BY_BOTH = ("50%=#:ü",)


def rows_kept(switched: Switched) -> list[bytes]:
    return sorted(row for rows in kept(switched).values() for row in rows)


def at_the_old_primary(switched: Switched) -> list[bytes]:
    """Return what lies in the places of the old primary's tables."""
    east, files = switched.world.source, switched.world.source_files
    places: list[str] = []
    for table in east.tables("sales", east.table_names("sales")):
        if table.partition_keys:
            places += [place for _, place in east.partition_locations(table)]
        elif table.location:
            places.append(table.location)
    return [
        files.read(one.path)
        for _, children in files.list_directories(places)
        for one in children or ()
        if not one.is_directory
    ]


# --- users of the old primary who go on


def insert(switched: Switched) -> None:
    switched.east.insert("plain", None, [LATE])


def insert_into_partition(switched: Switched) -> None:
    switched.east.insert("orders", KEPT_BY_BOTH, [LATE])


def add_partition(switched: Switched) -> None:
    switched.east.add_partitions("orders", {("late",): [LATE]})


def create_table(switched: Switched) -> None:
    switched.east.create_table("late", files=[LATE])


def switch_location(switched: Switched, *, says_before: bool = False) -> None:
    switched.world.source_files.put("hdfs://east/elsewhere/f", LATE)
    switched.east.set_partition_location("orders", KEPT_BY_BOTH, "hdfs://east/elsewhere", says_before=says_before)


def switch_location_as_before(switched: Switched) -> None:
    switch_location(switched, says_before=True)


def silent(switched: Switched) -> None:
    switched.world.source_files.put(f"{switched.east.location('plain')}/late", LATE)


def silent_rename(switched: Switched) -> None:
    """Put a file that is older than any look into a partition, by a rename."""
    files = switched.world.source_files
    files.put("hdfs://east/elsewhere/old", LATE, modified_ms=1)
    files.rename("hdfs://east/elsewhere/old", f"{switched.east.location('orders', KEPT_BY_BOTH)}/old")


SWITCHES = (switch_location, switch_location_as_before)
WRITES = (
    *(insert, insert_into_partition, add_partition, create_table),
    *(switch_location, switch_location_as_before, silent, silent_rename),
)


class Meanwhile:
    """Let users act before the n-th call of a failback, whatever port it goes to, unless all is over by then.

    Between reading partitions and writing our stamp on them nobody switches their places: a metastore does not compare.
    """

    def __init__(self, switched: Switched, act: Callable[[Switched], None], at: int) -> None:
        self._switched, self._act, self._at = switched, act, at
        self._lock = threading.RLock()
        self.calls, self.has_acted = 0, False

    def called(self, name: str) -> None:
        with self._lock:
            self.calls += 1
            if name == "alter_partitions" and self._act in SWITCHES:
                self._at += 1
            if self.calls == self._at and PHASE not in self._switched.world.source.database("sales").parameters:
                self.has_acted = True
                self._act(self._switched)

    def over(self, ports: WritePorts) -> WritePorts:
        names = ("source", "replica", "source_files", "replica_files", "dump_files", "source_marker")
        return replace(ports, **{name: _Called(getattr(ports, name), self) for name in names})


class _Called:
    def __init__(self, port: Any, meanwhile: Meanwhile) -> None:
        self._port, self._meanwhile = port, meanwhile

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._port, name)
        if not callable(value):
            return value

        def call(*args: Any, **kwargs: Any) -> Any:
            self._meanwhile.called(name)
            return value(*args, **kwargs)

        return call


def keep_and_run(ports: WritePorts) -> None:
    """Do what the tasks of the DAG do, one after the other."""
    Failback(BACK, HOLDER).keep(ports)
    Failback(BACK, HOLDER).run(ports)


@pytest.mark.parametrize("act", WRITES)
def test_whoever_writes_between_two_calls_the_row_is_kept_or_the_failback_refused(
    act: Callable[[Switched], None],
) -> None:
    begin = copies_of(Switched(loses=True))
    counted = Meanwhile(begin(), lambda switched: None, 0)
    keep_and_run(counted.over(counted._switched.ports()))
    assert counted.calls > 100
    acted = 0
    for at in range(1, counted.calls + 1)[seeds.kill_points()]:
        switched = begin()
        meanwhile = Meanwhile(switched, act, at)
        try:
            keep_and_run(meanwhile.over(switched.ports()))
        except (ActNow, TryAgain):
            assert LATE in at_the_old_primary(switched), at
            keep_and_run(switched.ports())
        acted += meanwhile.has_acted
        assert (LATE in rows_kept(switched)) is meanwhile.has_acted, at
        assert switched.world.source.database("sales").parameters[PHASE] == "following"
    assert acted > 5


def test_what_is_written_after_the_keeping_is_kept_by_the_next_try() -> None:
    switched = Switched(loses=True)
    Failback(BACK, HOLDER).keep(switched.ports())
    insert(switched)
    assert QuietOldPrimary(BACK, wait=lambda _: None).run(switched.ports())
    said = Failback(BACK, HOLDER).keep(switched.ports())
    assert [line.partition(": ")[2].partition(":")[0] for line in said] == ["plain"]
    switched.fail_back()
    assert rows_kept(switched) == [LATE, b"never seen in west"]


def test_what_comes_between_a_look_and_its_pass_is_seen_by_the_next_look(monkeypatch: pytest.MonkeyPatch) -> None:
    switched = Switched(loses=True)
    Failback(BACK, HOLDER).keep(switched.ports())
    switched.east.insert("plain", None, [b"told by an event: the pass has a table to look at"])
    look, place = late_writes.written_since, partition_place(switched)
    acts = iter([lambda: switched.world.source_files.put(f"{place}/silent", LATE)])

    def looked(*given: Any) -> Mapping[str, str] | None:
        found = look(*given)
        for act in acts:
            act()
        return found

    monkeypatch.setattr(diverged_backup, "written_since", looked)
    Failback(BACK, HOLDER, wait=lambda _: None).run(switched.ports())
    assert LATE in rows_kept(switched)


def partition_place(switched: Switched) -> str:
    orders = switched.east.table("orders")
    return next(place for _, place in switched.world.source.partition_locations(orders))


def test_a_writer_who_does_not_stop_is_named_and_nothing_of_his_is_lost() -> None:
    switched = Switched()
    policy = replace(BACK, quiet_seconds=5.0)
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        switched.east.insert("plain", None, [f"{LATE.decode()} {len(waited)}".encode()])

    with pytest.raises(ActNow, match=r"(?s)east/sales is still written.*ALTER_TABLE of plain.*kept by the next try"):
        Failback(policy, HOLDER, wait=wait).run(switched.ports())
    assert PHASE not in switched.world.source.database("sales").parameters
    assert waited == [5.0] * len(waited)
    switched.fail_back()
    assert rows_kept(switched) == [f"{LATE.decode()} {number + 1}".encode() for number in range(len(waited))]


def test_a_failback_from_a_terminal_proves_that_the_old_primary_is_quiet() -> None:
    switched, waited = Switched(), list[float]()
    Failback(replace(BACK, quiet_seconds=7.0), HOLDER, wait=waited.append).run(switched.ports())
    assert waited == [7.0]


def test_a_run_that_was_killed_right_after_the_mark_looks_once_more() -> None:
    switched = Switched()

    class Ends(BaseException):
        pass

    ports = switched.ports()
    marked = ports.replica.set_database_parameters

    class Marks:
        def __getattr__(self, name: str) -> Any:
            return getattr(switched.world.source, name)

        def set_database_parameters(self, name: str, parameters: Mapping[str, str]) -> None:
            insert(switched)
            marked(name, parameters)
            raise Ends

    with pytest.raises(Ends):
        Failback(BACK, HOLDER).run(replace(ports, replica=Marks()))
    assert switched.world.source.database("sales").parameters[PHASE] == "following"
    switched.back_lease.lose_holders()
    switched.fail_back()
    assert rows_kept(switched) == [LATE]


def test_what_is_marked_by_the_failback_itself_is_no_writing() -> None:
    switched = Switched(loses=True, partitions=5)
    policy = tuned(BACK, partitions_per_call=2)
    Failback(policy, HOLDER).keep(switched.ports())
    asked = switched.world.replica_files.calls["checksum"]
    Failback(policy, HOLDER).run(switched.ports())
    assert switched.world.source.table(TableName("sales", "large")).parameters[STAMP]
    # The new primary's files were not compared once more.
    assert switched.world.replica_files.calls["checksum"] == asked


def test_the_log_of_an_old_primary_that_was_restored_meanwhile_proves_nothing() -> None:
    switched = Switched(loses=True)
    log = switched.world.source._log
    rows, last = list(log.rows), log.last_event_id
    switched.east.insert("plain", None, [b"before"])
    switched.east.insert("plain", None, [b"before too"])
    Failback(BACK, HOLDER).keep(switched.ports())
    log.rows, log.last_event_id = rows, last
    switched.world.source.pass_time(1_000)
    insert(switched)
    switched.fail_back()
    assert LATE in rows_kept(switched)


@pytest.mark.parametrize("place", ["data", "below/it/f"])
def test_a_file_that_is_written_silently_where_no_new_name_shows_it_is_kept(place: str) -> None:
    switched = Switched()
    files, path = switched.world.source_files, f"{switched.east.location('plain')}/{place}"
    files.put(path, b"plain")
    Failback(BACK, HOLDER).keep(switched.ports())
    files.rewrite(path, LATE)
    switched.fail_back()
    assert LATE in [files.read(one) for one in files.paths() if "__diverged_" in one]


def test_a_silent_write_of_a_table_that_the_new_primary_has_too_is_kept() -> None:
    switched = Switched()
    switched.west.insert("plain", None, [b"west's rows"])
    Failback(BACK, HOLDER).keep(switched.ports())
    silent(switched)
    switched.fail_back()
    assert LATE in rows_kept(switched)


def west_adds_rows(west: SourceWriter) -> None:
    west.insert("plain", None, [b"west's rows"])


def west_adds_a_column(west: SourceWriter) -> None:
    west.add_columns("plain", [("more", "string")])


def west_makes_it_again(west: SourceWriter) -> None:
    west.drop_table("plain")
    west.create_table("plain", files=[b"west's rows"])


def west_overwrites(west: SourceWriter) -> None:
    west.overwrite("plain", None, [b"west's rows"])


def west_truncates(west: SourceWriter) -> None:
    west.truncate("plain")


def west_moves_it(west: SourceWriter) -> None:
    west.set_location("plain", "hdfs://west/elsewhere/plain")


def west_moves_partitions(west: SourceWriter) -> None:
    for values in ("a b",), KEPT_BY_BOTH:
        west.set_partition_location("orders", values, f"hdfs://west/elsewhere/{len(values[0])}")


@pytest.mark.parametrize("act", [west_adds_rows, west_adds_a_column])
def test_a_silent_write_is_kept_where_the_new_primary_lost_no_rows(act: Callable[[SourceWriter], None]) -> None:
    switched = Switched()
    silent(switched)
    act(switched.west)
    switched.fail_back()
    assert rows_kept(switched) == [LATE]


@pytest.mark.parametrize(
    "act", [west_makes_it_again, west_overwrites, west_truncates, west_moves_it, west_moves_partitions]
)
def test_what_the_new_primary_replaced_or_removed_is_not_kept(act: Callable[[SourceWriter], None]) -> None:
    switched = Switched()
    act(switched.west)
    switched.fail_back()
    assert rows_kept(switched) == []


def test_what_the_log_does_not_tell_any_more_is_kept_though_the_new_primary_wrote_the_table() -> None:
    switched = Switched()
    switched.west.insert("plain", None, [b"west's rows"])
    insert(switched)
    switched.world.source._log.rows.clear()
    switched.fail_back()
    assert LATE in rows_kept(switched)


# --- what the log of an old primary tells


def a_log(switched: Switched) -> tuple[OldPrimaryLog, str]:
    """Return what is read of it after the failover, and the stamp of the failback."""
    promotion = Promotion.read(switched.world.replica.database("sales").parameters)
    assert promotion is not None
    return old_primary_log(switched.ports(), BACK, promotion), f"{promotion.log}:{promotion.begin.event_id}"


def test_only_what_brings_the_stamp_and_changes_nothing_else_is_our_marking() -> None:
    switched = Switched()
    log, stamp = a_log(switched)
    east, first, second = switched.east, KEPT_BY_BOTH, ("no files",)

    def read() -> set[str]:
        log.read_on()
        found, log.tables = set(log.tables), {}
        return found

    east.alter_partitions("orders", [first], {STAMP: stamp})
    east.alter_partition("orders", second, {STAMP: stamp})
    east.set_parameters("empty", {STAMP: stamp})
    assert read() == set()
    # The event of the newer call does not say what was before: a second one for a partition is somebody else's,
    east.alter_partitions("orders", [first], {})
    assert read() == {"orders"}
    east.set_parameters("orders", {STAMP: stamp})
    assert read() == set()
    # and one after that of its table.
    east.alter_partitions("orders", [first], {})
    assert read() == {"orders"}
    east.set_parameters("plain", {STAMP: stamp, "comment": "another"})
    east.set_parameters("empty", {"comment": "another"})
    assert read() == {"plain", "empty"}


def test_a_log_with_a_gap_or_an_event_that_nobody_can_read_names_no_tables() -> None:
    switched = Switched()
    log, _ = a_log(switched)
    log.read_on()
    begin = log.position
    assert (log.written_after(begin), log.is_whole) == ({}, True)
    switched.world.source._log.emit("UNHEARD_OF", "sales", None, {})
    log.read_on()
    assert (log.written_after(begin), log.is_whole) == (None, False)
    assert log.written_after(log.position) == {}
    switched.east.insert("plain", None, [b"x"])
    switched.world.source._log.expire(switched.world.source.current_event_id() - 1)
    log.read_on()
    assert log.written_after(log.position) is None
    assert log.written_after(log.begin_pass()) == {}


def test_a_position_of_another_log_tells_nothing() -> None:
    switched = Switched()
    switched.east.insert("plain", None, [b"x"])
    log, _ = a_log(switched)
    log.read_on()
    assert log.written_after(log.position) == {}
    assert log.written_after(replace(log.position, digest="another")) is None
    assert log.written_after(Position(log.position.event_id + 1)) is None


# --- external data


class LateExternals(SwitchedExternals):
    def write(self) -> None:
        self.world.source_files.put("hdfs://east/data/days/p=1/late", LATE)


def test_external_data_that_comes_after_the_keeping_is_kept() -> None:
    switched = LateExternals()
    Failback(BACK_EXTERNAL, HOLDER).keep(switched.ports())
    switched.write()
    switched.fail_back()
    assert kept(switched) == {("days", "p=1"): [LATE]}


# --- decided again under the lease


class ActsFirst:
    """Hand out leases after somebody has acted."""

    def __init__(self, lease: InMemoryLease, act: Callable[[], object]) -> None:
        self._lease, self._act = lease, act

    @contextmanager
    def hold(self, directory: str, holder: Mapping[str, str], kind: LeaseKind) -> Iterator[Lease]:
        self._act()
        with self._lease.hold(directory, holder, kind) as lease:
            yield lease

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lease, name)


@pytest.mark.parametrize("act", [Failback.keep, Failback.run])
def test_what_became_of_the_old_primary_before_the_lease_was_held_is_seen(act: Callable[..., object]) -> None:
    switched = Switched(loses=True)
    ports = switched.ports()
    lease = ActsFirst(switched.back_lease, lambda: of_another_policy(switched))
    with pytest.raises(Foreign, match="belongs to another policy"):
        act(Failback(BACK, HOLDER), replace(ports, lease=lease))
    assert kept(switched) == {}
    east = switched.world.source
    assert not any(STAMP in one.parameters for one in east.tables("sales", east.table_names("sales")))


# --- tables that lacked rows when the replica took over


class SwitchedBehind(Switched):
    """Two clusters of which west has taken over, unplanned, after something has happened to its replica."""

    def __init__(self, happens: Callable[[Followed], object]) -> None:
        followed = Followed()
        happens(followed)
        world = followed.world
        self.there, self.world, self.back_lease, self.log = followed.policy, world, InMemoryLease(), []
        world.replica.configurations[REPLICA_ADDRESS] |= READY | {"metastore.repl.cmrootdir": "/cmroot"}
        world.source.configurations[SOURCE_ADDRESS] |= READY | {
            "metastore.warehouse.dir": "hdfs://east/warehouse/managed"
        }
        self.east, self.west = followed.users, SourceWriter(world.replica, world.replica_files, "sales")
        at = int(world.replica.database("sales").parameters["repl.last.id"])
        UnplannedFailover(self.there, at, "gone", HOLDER).run(world.ports())


def frozen(followed: Followed) -> None:
    replica = followed.world.replica
    marked = with_frozen(replica.database("sales").parameters, "plain", "8 somebody else's file was in the way")
    replica.set_database_parameters("sales", marked)
    followed.users.insert("plain", None, {"rows": LATE})
    for _ in range(3):
        followed.follow()


def damaged(followed: Followed) -> None:
    followed.users.insert("plain", None, {"rows": LATE})
    followed.follow()
    west = followed.world.replica_files
    (path,) = [path for path in west.paths() if west.read(path) == LATE and "/staging/" not in path]
    west.delete_file(path)


def requested(followed: Followed) -> None:
    damaged(followed)
    request_table(followed.world.replica_files, followed.policy, "plain", "ann")


def all_requested(followed: Followed) -> None:
    damaged(followed)
    request_everything(followed.world.replica_files, followed.policy, "ann")


def skipped(followed: Followed) -> None:
    event_id = followed.world.source.current_event_id() + 1
    followed.users.insert("plain", None, {"rows": LATE})
    skip_event(followed.world.replica_files, followed.policy, event_id, "why", "ann")
    followed.follow()
    followed.users.insert("plain", None, {"more": b"more"})
    followed.follow()


def skipped_and_expired(followed: Followed) -> None:
    skipped(followed)
    followed.world.source._log.expire(followed.world.source.current_event_id() - 1)


@pytest.mark.parametrize("happens", [frozen, requested, all_requested, skipped, skipped_and_expired])
def test_rows_that_the_new_primary_never_got_are_kept_though_its_users_write_the_table(
    happens: Callable[[Followed], object],
) -> None:
    switched = SwitchedBehind(happens)
    west = switched.world.replica_files
    assert not any(west.read(path) == LATE for path in west.paths() if "/warehouse/" in path)
    switched.west.insert("plain", None, [b"west's rows"])
    assert any("only east/sales has: plain" in line for line in Failback(BACK, HOLDER).plan(switched.ports()))
    switched.fail_back()
    assert rows_kept(switched) == [LATE]


def test_a_promotion_says_which_tables_lacked_rows_however_many() -> None:
    promotion = Promotion("log", Position(8), "other", Position(3), How.UNPLANNED, "sales")
    assert ASKED_FOR not in promotion.written({})
    said = with_frozen(promotion.written({}, ["a", "b"]), "c", "why")
    assert Promotion.read(said) == promotion
    assert behind_when_promoted(said) == {"a", "b", "c"}
    for all_of_them in (None, [f"table_{number}" for number in range(1_000)]):
        written = promotion.written({}, all_of_them)
        assert max(map(len, written.values())) <= 4_000
        assert behind_when_promoted(written) is None
    assert behind_when_promoted({ASKED_FOR: "{"}) is None


# --- the same bytes, other bytes


def test_a_row_that_is_there_once_more_is_kept() -> None:
    switched = Switched()
    switched.east.insert("plain", None, {"again": b"plain"})
    switched.fail_back()
    assert kept(switched) == {("plain", ""): [b"plain"]}


def test_each_file_of_the_new_primary_answers_for_one() -> None:
    switched = Switched()
    switched.east.overwrite("plain", None, {"1": b"x", "2": b"x", "3": b"x", "zz": b"y"})
    switched.west.overwrite("plain", None, {"3": b"x", "other": b"x"})
    # Of equal length and checksum is not enough where the bytes are few.
    switched.east.insert("empty", None, {"f": b"\x9d\x0a\xd9\x6d"})
    switched.west.insert("empty", None, {"another": b""})
    switched.fail_back()
    files = switched.world.source_files
    names = {base_name(path): files.read(path) for path in files.paths() if "__diverged_" in path}
    assert names == {"2": b"x", "zz": b"y", "f": b"\x9d\x0a\xd9\x6d"}


@pytest.mark.parametrize("content", [b"plain", b"other"])
def test_of_files_whose_checksums_do_not_compare_the_bytes_are_read(content: bytes) -> None:
    switched = Switched()
    switched.world.source_files.put(f"{switched.east.location('plain')}/data", content, checksum_type="CRC32/512")
    Failback(BACK, HOLDER).keep(switched.ports())
    assert rows_kept(switched) == ([] if content == b"plain" else [content])


def test_a_file_that_changed_after_it_was_kept_is_kept_as_it_is_now() -> None:
    switched = Switched()
    switched.east.insert("plain", None, {"f": b"one"})
    Failback(BACK, HOLDER).keep(switched.ports())
    switched.world.source_files.put(f"{switched.east.location('plain')}/f", b"two")
    switched.fail_back()
    assert rows_kept(switched) == [b"two"]


def test_what_is_kept_is_compared_and_not_copied_twice() -> None:
    switched = Switched()
    files = switched.world.source_files
    for kind in ("CRC32/512", "CRC32C/512"):
        files.put(f"{switched.east.location('plain')}/of_{kind.partition('/')[0]}", b"rows", checksum_type=kind)
        files.usual_checksums = "CRC32C/512"
        Failback(BACK, HOLDER).keep(switched.ports())
    files.corrupt_next_copies = 1
    insert(switched)
    with pytest.raises(TryAgain, match="the copy has another checksum"):
        Failback(BACK, HOLDER).keep(switched.ports())
    assert LATE not in rows_kept(switched)
    switched.fail_back()
    assert rows_kept(switched) == [LATE, b"rows", b"rows"]


# --- names, memory


def test_a_long_name_is_cut_to_what_a_metastore_takes() -> None:
    promotion = Promotion("log", Position(12_345), "other", Position(3), How.UNPLANNED, "sales")

    def name(database: str) -> str:
        return kept_database(replace(BACK, replica=DatabaseAddress("east", database)), promotion)

    assert name("sales") == "sales__diverged_12345"
    long = [name("d" * 127 + end) for end in ("a", "b")]
    assert all(len(one) <= 128 and one.endswith("__diverged_12345") for one in long)
    assert long[0] != long[1] and long == [name("d" * 127 + end) for end in ("a", "b")]


def test_what_is_held_grows_neither_with_the_log_nor_with_a_table() -> None:
    switched = Switched()
    number = 4 * LEAVES_AT_ONCE
    switched.east.create_table("many", keys=("p",))
    switched.east.add_partitions("many", {(f"{at:05}",): {"f": b"x"} for at in range(number)})
    for _ in range(200):
        switched.east.set_parameters("empty", {"k": "v"})
    database = switched.world.replica.database("sales")
    promotion = Promotion.read(database.parameters)
    assert promotion is not None
    log = old_primary_log(switched.ports(), BACK, promotion)
    log.read_on()
    assert (log.tables["empty"].count, len(log.tables["empty"].first), len(log.tables["empty"].newest)) == (200, 5, 5)
    assert (log.written_after(NOWHERE) or {}).keys() == {"many", "empty"}
    found, most = 0, 0
    for one in DivergedTables(switched.ports(), BACK, promotion, log).leaves():
        found += len(one.files)
        if found % 100 == 0:
            most = max(most, sum(type(each) is LeafState for each in gc.get_objects()))
    assert found == number
    assert most <= 2 * LEAVES_AT_ONCE
