"""Where people write a database, no directory goes that they use, or are about to: forgotten, promoted, swept."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.copies import copies_of
from tests.support.worlds.fake_world import tuned
from tests.unit.operations.failover.test_failback import BACK, Switched, change_west
from tests.unit.operations.failover.test_failover import HOLDER, position, ready, unplanned
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.directory_marks.directories import table_mark
from twinhive.core.model.errors import Refused, Unreachable
from twinhive.core.model.files import join
from twinhive.core.model.marks import PHASE
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import DDL_TIME, Database, Table
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Work
from twinhive.operations.failover import unused_content
from twinhive.operations.failover.failback import Failback
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.forget import Forget
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.replication.replica.used_directories import UsedPlaces
from twinhive.replication.scan.sweep import sweep
from twinhive.replication.scan.unused_note import UnusedNote

ARCHIVE = "archive"
ROOT = "hdfs://west/warehouse/managed/sales.db"


def with_leftovers() -> Followed:
    """Return a replica of which a sweep has seen directories unused: of events, and in one of Hive's own places."""
    followed = ready(Followed(tuned(grace_seconds=3600)))
    users = followed.users
    users.add_partitions("orders", {("one",): [b"1"], ("two",): [b"2"]})
    users.rename_partition("orders", ("one",), ("x",))
    followed.follow()
    users.overwrite("plain", None, {"data": b"other rows"})
    users.overwrite("orders", ("a b",), {"f1": b"other"})
    users.drop_partitions("orders", [("x",)])
    users.drop_table("empty")
    followed.follow()
    sweep(followed.world.ports(), work_of(followed), wait=lambda seconds: None)
    followed.world.replica_files.pass_time(10_000)
    followed.world.replica.create_database(Database(ARCHIVE, None, None, {}, "{}"))
    return followed


def work_of(followed: Followed) -> Work:
    return Work(followed.policy, holder={"run": "s"}, report=followed.say)


def taken_over() -> Followed:
    followed = with_leftovers()
    unplanned(followed).run(followed.world.ports())
    return followed


def unused(followed: Followed) -> set[str]:
    """Return what the sweep has seen unused, and is there."""
    files = followed.world.replica_files
    return {one for one in UnusedNote.read(files, followed.policy).since if files.status(one) is not None}


@dataclass
class People:
    """Users of the replica's cluster, who do everything at once; what they know to be there afterwards."""

    followed: Followed
    rows: dict[str, bytes] = field(default_factory=dict)
    acted: bool = False

    def __post_init__(self) -> None:
        world = self.followed.world
        self.users = SourceWriter(world.replica, world.replica_files, "sales")

    def act(self) -> None:
        """Insert, with and without having told the metastore; alter, move, rename into another database."""
        self.acted = True
        users, files = self.users, self.followed.world.replica_files
        orders = str(users.table("orders").location)
        users.add_partitions("orders", {("committed",): [b"committed"]})
        users.insert("orders", ("a b",), [b"inserted"])
        for path in ("p=inflight/f", ".hive-staging_hive_2026-1/-ext-1/000000_0", "_temporary/0/f"):
            files.put(f"{orders}/{path}", b"in flight")
            self.rows[f"{orders}/{path}"] = b"in flight"
        moved = f"{orders}_new/p=two"
        files.put(f"{moved}/new", b"an overwrite that switches the location")
        users.set_partition_location("orders", ("two",), moved, says_before=False)
        altered = replace(users.table("orders"), columns=(("id", "int"), ("added", "string")))
        kept = {key: value for key, value in altered.parameters.items() if key != DDL_TIME}
        self.followed.world.replica.pass_time(1)
        users.metastore.alter_table(altered.name, altered.with_parameters({**kept, "team": "people"}))
        users.rename_table("plain", "kept", database=ARCHIVE)
        users.metastore.set_database_parameters(
            "sales", {**users.metastore.database("sales").parameters, "owner_team": "new"}
        )
        self.rows |= registered(self.followed)

    def assert_nothing_is_lost(self) -> None:
        """Assert that all is there, and as they have made it."""
        files = self.followed.world.replica_files
        assert {path: files.read(path) for path in self.rows if files.status(path)} == self.rows
        orders = self.users.table("orders")
        assert ("added", "string") in orders.columns and orders.parameters["team"] == "people"
        assert str(self.users.partition("orders", ("two",)).location).endswith("_new/p=two")


def registered(followed: Followed) -> dict[str, bytes]:
    """Return all rows that the metastore knows on the replica's cluster."""
    replica, files = followed.world.replica, followed.world.replica_files
    places = []
    for database in replica.database_names():
        for table in replica.tables(database, replica.table_names(database)):
            if table.partition_keys:
                places += [location for _, location in replica.partition_locations(table)]
            elif table.location:
                places.append(table.location)
    return {path: files.read(path) for path in files.paths() if any(path.startswith(f"{one}/") for one in places)}


class Before:
    """Be a port, and let something happen before one of its calls.

    Of partitions and of a database's parameters the metastore compares nothing: they are written right after they were
    read, and nothing happens in between.
    """

    NOT_COMPARED = ("alter_partitions", "set_database_parameters")

    def __init__(self, port: Any, at: Iterator[None], action: Callable[[], None]) -> None:
        self._port, self._at, self._action = port, at, action

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        if not callable(found) or name in self.NOT_COMPARED:
            return found

        def call(*given: Any, **named: Any) -> Any:
            if next(self._at, self) is self:
                self._action()
            return found(*given, **named)

        return call


def interrupted(followed: Followed, at: int, people: "People") -> WritePorts:
    """Return ports of the replica, before whose n-th call people act."""
    ports, calls = followed.world.ports(), iter([None] * (at - 1))

    def once() -> None:
        if not people.acted:
            people.act()

    return replace(
        ports,
        replica=Before(ports.replica, calls, once),
        replica_files=Before(ports.replica_files, calls, once),
    )


@pytest.mark.parametrize("begin", [with_leftovers, taken_over])
def test_people_who_act_before_any_call_of_a_forget_lose_nothing(begin: Callable[[], Followed]) -> None:
    copy, at = copies_of(begin()), 1
    while True:
        people = People(copy())
        followed = people.followed
        Forget(followed.policy, HOLDER).run(interrupted(followed, at, people))
        if not people.acted:
            break
        people.assert_nothing_is_lost()
        assert people.users.metastore.database("sales").parameters["owner_team"] == "new"
        assert "twinhive.policy" not in followed.world.replica.database("sales").parameters
        at += 1
    assert at > 60


def test_people_who_act_before_any_call_of_a_promotion_lose_nothing() -> None:
    copy, at = copies_of(with_leftovers()), 1
    while True:
        people = People(copy())
        followed = people.followed
        unplanned(followed).run(interrupted(followed, at, people))
        if not people.acted:
            break
        people.assert_nothing_is_lost()
        at += 1
    assert at > 30


def test_a_forget_of_a_primary_removes_what_was_seen_unused_before_and_names_the_rest() -> None:
    followed = taken_over()
    before = unused(followed)
    assert before
    lines = "\n".join(Forget(followed.policy, HOLDER).run(followed.world.ports()))
    files = followed.world.replica_files
    assert not any(map(files.status, before))
    assert all(one in lines for one in before)


def test_without_a_sweep_before_it_took_over_nothing_of_a_primary_goes() -> None:
    followed = ready(Followed())
    followed.users.overwrite("plain", None, {"data": b"other rows"})
    followed.follow()
    unplanned(followed).run(followed.world.ports())
    before = set(followed.world.replica_files.paths())
    followed.world.replica_files.pass_time(1e6)
    Forget(followed.policy, HOLDER).run(followed.world.ports())
    gone = before - set(followed.world.replica_files.paths())
    assert all(path.startswith(followed.policy.staging) for path in gone)


def test_marks_that_were_not_taken_away_prove_nothing_of_what_people_stop_using(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    followed = with_leftovers()
    monkeypatch.setattr("twinhive.operations.failover.promote.release_directories", lambda *given: [])
    unplanned(followed).run(followed.world.ports())
    replica, files = followed.world.replica, followed.world.replica_files
    plain = str(replica.table(TableName("sales", "plain")).location)
    assert table_mark(files, plain) == followed.policy.name
    SourceWriter(replica, files, "sales").set_location("plain", f"{ROOT}/elsewhere")
    files.pass_time(1e6)
    lines = "\n".join(Forget(followed.policy, HOLDER).run(followed.world.ports()))
    assert files.status(plain) is not None
    assert f"left in place: {plain}: people write this database" in lines


def test_one_of_hives_own_places_stays_where_people_write_though_it_was_seen_unused() -> None:
    followed = with_leftovers()
    files = followed.world.replica_files
    place = f"{followed.world.replica.table(TableName('sales', 'orders')).location}/p=x"
    refusing(files, "/p=x")
    unplanned(followed).run(followed.world.ports())
    del files.delete, files.to_trash
    assert place in unused(followed)
    lines = "\n".join(Forget(followed.policy, HOLDER).run(followed.world.ports()))
    assert files.status(place) is not None and f"left in place: {place}" in lines


def test_what_was_written_since_it_was_seen_unused_stays_and_is_named() -> None:
    followed = taken_over()
    files = followed.world.replica_files
    old = min(one for one in unused(followed) if "/plain." in one)
    files.put(f"{old}/part-0", b"put there by hand")
    lines = "\n".join(Forget(followed.policy, HOLDER).run(followed.world.ports()))
    assert files.read(f"{old}/part-0") == b"put there by hand"
    assert f"left in place: {old}: it was written after it was seen unused; look: hdfs dfs -ls {old}" in lines


def test_directories_of_a_replica_that_has_taken_over_bear_no_mark_but_of_what_is_unused() -> None:
    followed = with_leftovers()
    files, replica = followed.world.replica_files, followed.world.replica
    plain = str(replica.table(TableName("sales", "plain")).location)
    assert table_mark(files, plain) == followed.policy.name
    unplanned(followed).run(followed.world.ports())
    assert table_mark(files, plain) is None
    tops = {join(ROOT, one.removeprefix(f"{ROOT}/").partition("/")[0]) for one in unused(followed)}
    assert tops and all(table_mark(files, top) == followed.policy.name for top in tops)


def test_marks_that_cannot_be_taken_away_do_not_keep_it_from_taking_over() -> None:
    followed = with_leftovers()
    files, at = followed.world.replica_files, position(followed)
    plain = str(followed.world.replica.table(TableName("sales", "plain")).location)
    files.forbidden.add(plain)
    lines = "\n".join(unplanned(followed).run(followed.world.ports()))
    assert followed.world.replica.database("sales").parameters[PHASE] == "promoted"
    assert f"bear the policy's mark still: {plain}; hdfs dfs -setfattr -x user.twinhive.built-by {plain}" in lines
    files.forbidden.clear()
    unplanned(followed, at).run(followed.world.ports())
    assert table_mark(files, plain) is None


def test_a_young_directory_in_hives_own_places_stays_and_is_named() -> None:
    followed = with_leftovers()
    orders = followed.world.replica.table(TableName("sales", "orders")).location
    place = f"{orders}/p=x"
    files = followed.world.replica_files
    assert files.status(place) is not None
    files.put(f"{place}/new", b"a running insert")
    lines = "\n".join(unplanned(followed).run(followed.world.ports()))
    assert files.read(f"{place}/new") == b"a running insert"
    assert f"left in place: {place}: it was written within 1 h" in lines and f"hdfs dfs -ls {place}" in lines
    files.pass_time(10_000)
    Forget(followed.policy, HOLDER).run(followed.world.ports())
    assert files.read(f"{place}/new") == b"a running insert"


@pytest.mark.parametrize("remove", ["forget", "promotion"])
def test_a_hidden_name_stays_however_old_it_is(remove: str) -> None:
    followed = with_leftovers()
    files = followed.world.replica_files
    orders = followed.world.replica.table(TableName("sales", "orders")).location
    hidden = [f"{orders}/{name}/f" for name in (".hive-staging_hive_1", "_temporary", "_tmp.x")]
    for path in hidden:
        files.put(path, b"of a job that takes days")
    files.pass_time(1e6)
    unplanned(followed).run(followed.world.ports()) if remove == "promotion" else forgotten(followed)
    assert all(map(files.status, hidden)) and files.status(f"{orders}/p=x") is None


# --- what other databases use


def moved_into_the_archive(followed: Followed, how: str) -> dict[str, bytes]:
    """Let a table of another database use what the sweep has seen unused; return its rows."""
    replica, files = followed.world.replica, followed.world.replica_files
    plain = min(one for one in unused(followed) if "/plain." in one)
    theirs = replace(replica.table(TableName("sales", "plain")), name=TableName(ARCHIVE, "theirs"))
    if how == "a table":
        replica.create_table(theirs.at(theirs.name, plain).with_parameters({}))
    else:
        users = SourceWriter(replica, files, ARCHIVE)
        users.create_table("theirs", keys=("p",))
        users.add_partitions("theirs", {("1",): []})
        users.set_partition_location("theirs", ("1",), plain)
    return {path: files.read(path) for path in files.paths() if path.startswith(f"{plain}/")}


def swept(followed: Followed) -> None:
    sweep(followed.world.ports(), work_of(followed), wait=lambda seconds: None)


def forgotten(followed: Followed) -> None:
    Forget(followed.policy, HOLDER).run(followed.world.ports())


def taken_over_and_forgotten(followed: Followed) -> None:
    unplanned(followed).run(followed.world.ports())
    forgotten(followed)


@pytest.mark.parametrize("how", ["a table", "a partition"])
@pytest.mark.parametrize("remove", [swept, forgotten, taken_over_and_forgotten])
def test_what_another_database_uses_stays(remove: Callable[[Followed], None], how: str) -> None:
    followed = with_leftovers()
    rows = moved_into_the_archive(followed, how)
    others = {one for one in unused(followed) if not any(path.startswith(f"{one}/") for path in rows)}
    remove(followed)
    files = followed.world.replica_files
    assert rows and {path: files.read(path) for path in rows if files.status(path)} == rows
    assert any(files.status(one) is None for one in others)


def test_a_partition_of_another_database_keeps_one_of_hives_own_places_at_a_promotion() -> None:
    followed = with_leftovers()
    replica, files = followed.world.replica, followed.world.replica_files
    place = f"{replica.table(TableName('sales', 'orders')).location}/p=x"
    users = SourceWriter(replica, files, ARCHIVE)
    users.create_table("theirs", keys=("p",))
    users.add_partitions("theirs", {("1",): []})
    users.set_partition_location("theirs", ("1",), place)
    lines = "\n".join(unplanned(followed).run(followed.world.ports()))
    assert files.status(place) is not None and f"left in place: {place}: another database uses it" in lines


def test_a_table_that_wanders_through_databases_while_they_are_asked_is_found() -> None:
    followed = with_leftovers()
    replica = followed.world.replica
    rows = moved_into_the_archive(followed, "a table")
    replica.create_database(Database("zoo", None, None, {}, "{}"))
    names, here = replica.table_names, [ARCHIVE, "zoo"]

    def wandering(database: str) -> list[str]:
        found = names(database)
        if database == "zoo" and here[0] == ARCHIVE:
            here.reverse()
            table = replica.table(TableName(ARCHIVE, "theirs"))
            replica.alter_table(table.name, table.at(TableName("aaa", "theirs"), table.location))
        return found

    replica.create_database(Database("aaa", None, None, {}, "{}"))
    replica.table_names = wandering
    swept(followed)
    files = followed.world.replica_files
    assert here[0] == "zoo" and all(map(files.status, rows))


@pytest.mark.parametrize("remove", [swept, forgotten])
def test_what_comes_into_use_after_all_were_asked_stays_by_its_name(
    monkeypatch: pytest.MonkeyPatch, remove: Callable[[Followed], None]
) -> None:
    followed = with_leftovers()
    replica, files = followed.world.replica, followed.world.replica_files
    plain = min(one for one in unused(followed) if "/plain." in one)
    (content,) = [one for one in unused(followed) if one.endswith("/p=a b")]
    read = UsedPlaces.read_whole

    def then_used(*args: object) -> object:
        places = read(*args)
        users = SourceWriter(replica, files, "sales")
        users.set_location("plain", plain)
        users.set_partition_location("orders", ("a b",), content)
        return places

    monkeypatch.setattr(UsedPlaces, "read_whole", then_used)
    remove(followed)
    assert files.status(plain) and files.status(content)


def test_where_not_all_can_be_asked_nothing_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = with_leftovers()
    before, read = unused(followed), followed.world.replica.tables

    def refusing(database: str, names: list[str]) -> list[Table]:
        if database == ARCHIVE:
            raise Refused("a table that cannot be read")
        return read(database, names)

    SourceWriter(followed.world.replica, followed.world.replica_files, ARCHIVE).create_table("skewed")
    monkeypatch.setattr(followed.world.replica, "tables", refusing)
    swept(followed)
    assert any("not all of the metastore can be asked" in line for line in followed.log)
    lines = unplanned(followed).run(followed.world.ports())
    assert any("a table that cannot be read" in line for line in lines)
    forgotten(followed)
    assert all(map(followed.world.replica_files.status, before))


def test_all_of_the_metastore_is_asked_only_for_what_is_due_and_once_in_a_grace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    followed, asked = Followed(tuned(grace_seconds=3600)), []
    read = UsedPlaces.read_whole
    monkeypatch.setattr(UsedPlaces, "read_whole", lambda *args: asked.append(1) or read(*args))
    files = followed.world.replica_files

    def later(seconds: int, *, asks: int) -> None:
        files.pass_time(seconds)
        swept(followed)
        assert len(asked) == asks

    later(0, asks=0)
    followed.users.overwrite("plain", None, {"data": b"1"})
    followed.follow()
    later(0, asks=0)
    later(1800, asks=0)
    followed.users.overwrite("plain", None, {"data": b"2"})
    followed.follow()
    later(0, asks=0)
    later(1800, asks=1)
    later(1800, asks=1)
    assert len(unused(followed)) == 1
    later(1800, asks=2)
    assert not unused(followed)
    later(100_000, asks=2)


def test_a_time_in_the_future_gives_no_grace_away() -> None:
    followed = with_leftovers()
    files, before = followed.world.replica_files, unused(followed)
    path = f"{followed.policy.staging}/scan/unused.json"
    files.pass_time(10_000_000)
    files.retime(path)
    files.pass_time(-10_000_000)
    swept(followed)
    assert unused(followed) == before
    files.pass_time(10_000)
    swept(followed)
    assert unused(followed) == set()


# --- what a promotion does not need


def refusing(files: object, part: str) -> None:
    """Let a file system not let go of what has that in its path, as of a directory with snapshots."""
    for name in ("delete", "to_trash"):
        call = getattr(files, name)

        def refuse(path: str, call: Callable[[str], bool] = call) -> bool:
            if part in path:
                raise Refused(f"{path}: the directory has snapshots")
            return call(path)

        setattr(files, name, refuse)


def test_a_directory_that_cannot_be_removed_does_not_keep_a_replica_from_taking_over() -> None:
    followed = with_leftovers()
    place = f"{followed.world.replica.table(TableName('sales', 'orders')).location}/p=x"
    refusing(followed.world.replica_files, "/p=x")
    lines = "\n".join(unplanned(followed).run(followed.world.ports()))
    assert followed.world.replica.database("sales").parameters[PHASE] == "promoted"
    assert f"left in place: {place}" in lines


def test_nor_does_a_file_system_that_does_not_answer_or_a_metastore_that_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    followed = with_leftovers()
    place = f"{followed.world.replica.table(TableName('sales', 'orders')).location}/p=x"
    monkeypatch.setattr(unused_content, "_LOOK_SECONDS", 0.0)
    assert followed.world.replica_files.status(place)
    copy = copies_of(followed)()
    lines = "\n".join(unplanned(followed).run(followed.world.ports()))
    assert followed.world.replica.database("sales").parameters[PHASE] == "promoted"
    assert followed.world.replica_files.status(place) and f"not all of {ROOT} was looked through within" in lines

    def silent(paths: object) -> object:
        raise Unreachable("the NameNode does not answer")

    copy.world.replica_files.list_pages = silent
    lines = "\n".join(unplanned(copy).run(copy.world.ports()))
    assert copy.world.replica.database("sales").parameters[PHASE] == "promoted"
    assert "left in place: what nothing uses in Hive's own places: the NameNode does not answer" in lines


def test_an_old_primary_with_a_directory_that_stays_takes_over_again() -> None:
    switched = Switched()
    change_west(switched)
    switched.fail_back()
    world = switched.world
    refusing(world.source_files, "/sales.db/plain")
    world.source_files.pass_time(1e6)
    at = int(world.source.database("sales").parameters["repl.last.id"])
    lines = UnplannedFailover(BACK, at, "west burns", HOLDER).run(switched.ports())
    assert world.source.database("sales").parameters[PHASE] == "promoted"
    assert any("left in place: hdfs://east/warehouse/managed/sales.db/plain" in line for line in lines), lines


# --- there and back again, with a table that users of a primary have taken into another database


def rows_of(table: Table, files: Any) -> dict[str, bytes]:
    return {path: files.read(path) for path in files.paths() if path.startswith(f"{table.location}/")}


def test_a_table_that_left_the_database_keeps_its_rows_through_failbacks_and_sweeps() -> None:
    switched = Switched()
    world, files = switched.world, switched.world.replica_files
    change_west(switched)
    world.replica.create_database(Database(ARCHIVE, None, None, {}, "{}"))
    switched.west.rename_table("plain", "plain", database=ARCHIVE)
    table = world.replica.table(TableName(ARCHIVE, "plain"))
    rows = rows_of(table, files)
    assert rows and table_mark(files, str(table.location)) is None
    switched.fail_back()
    Failover(BACK, HOLDER, wait=lambda _: None).run(switched.ports())
    Failback(switched.there, HOLDER).run(world.ports())
    switched.go_on(switched.there, world.ports)
    for _ in range(3):
        sweep(world.ports(), Work(switched.there, holder=HOLDER), wait=lambda _: None)
        files.pass_time(10 * switched.there.options.grace_seconds)
    assert rows_of(table, files) == rows


def test_and_through_promotions() -> None:
    switched = Switched()
    world, files = switched.world, switched.world.source_files
    switched.west.create_table("new", files=[b"n"])
    switched.fail_back()
    Failover(BACK, HOLDER, wait=lambda _: None).run(switched.ports())
    world.source.create_database(Database(ARCHIVE, None, None, {}, "{}"))
    switched.east.rename_table("new", "new", database=ARCHIVE)
    table = world.source.table(TableName(ARCHIVE, "new"))
    rows = rows_of(table, files)
    Failback(switched.there, HOLDER).run(world.ports())
    switched.go_on(switched.there, world.ports)
    Failover(switched.there, HOLDER, wait=lambda _: None).run(world.ports())
    Failback(BACK, HOLDER).run(switched.ports())
    switched.go_on(BACK, switched.ports)
    files.pass_time(1e6)
    Failover(BACK, HOLDER, wait=lambda _: None).run(switched.ports())
    assert rows and rows_of(table, files) == rows


def test_a_stamp_goes_from_a_table_that_is_no_longer_replicated_and_other_marks_stay() -> None:
    followed = taken_over()
    replica = followed.world.replica
    name = TableName("sales", "plain")
    table = replica.table(name)
    theirs = {"twinhive.copy.south": "a copy", "repl.of.people": "stays"}
    replica.alter_table(name, table.with_parameters({**table.parameters, **theirs}))
    policy = replace(followed.policy, exclude=("plain",))
    Forget(policy, HOLDER).run(followed.world.ports())
    left = replica.table(name).parameters
    assert theirs.items() <= left.items() and "twinhive.stamp" not in left
