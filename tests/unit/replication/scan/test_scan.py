"""Writes that leave no event are found by directories, and brought over only when settled and unexplained."""

import pytest

from tests.support.worlds.fake_world import tuned
from tests.support.worlds.memory_comparison import contents
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import ChecksumForm, Usage
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.names import TableName
from twinhive.core.step.step_base import Work
from twinhive.replication.scan.scan import Scan, Scanned

IDENTITY = ChecksumForm.IDENTITY


def scan(followed: Followed, *, during=lambda: None, deep: bool = False, now: float = 1e9) -> Scanned:
    work = Work(followed.policy, holder={"run": "s"}, report=followed.log.append)
    return Scan(work, deep=deep, clock=lambda: now, wait=lambda seconds: during()).run(followed.world.ports())


def sizes(followed: Followed) -> dict[str, Usage]:
    told: dict[str, Usage] = {}
    work = Work(followed.policy, holder={"run": "s"})
    Scan(work, clock=lambda: 1e9, wait=lambda seconds: None, tell_sizes=told.update).run(followed.world.ports())
    return told


def put(followed: Followed, table: str, name: str, content: bytes, values: tuple[str, ...] | None = None) -> str:
    path = f"{followed.users.location(table, values)}/{name}"
    followed.world.source_files.put(path, content)
    touch(followed, followed.users.location(table, values))
    return path


def touch(followed: Followed, directory: str) -> None:
    """Give a directory another time, as HDFS does when a file appears in it or goes."""
    files = followed.world.source_files
    files.put(f"{directory}/_x", b"")
    files.retime(directory)


def same(followed: Followed) -> bool:
    world = followed.world
    return contents(world.replica, world.replica_files) == contents(world.source, world.source_files)


@pytest.fixture
def followed() -> Followed:
    followed = Followed()
    scan(followed)
    return followed


def test_nothing_is_compared_where_no_directory_has_changed(followed: Followed) -> None:
    scanned = scan(followed)
    assert scanned.leaves > 0
    assert scanned.suspects == 0


def test_sizes_are_counted_where_files_are_compared_and_remembered_where_not(followed: Followed) -> None:
    before, after = sizes(followed), sizes(followed)
    assert before == after
    files = followed.world.source_files
    plain = [path for path in files.paths() if path.startswith(followed.users.location("plain", None) + "/")]
    assert before["plain"].files == len([path for path in plain if not path.rpartition("/")[2].startswith("_")]) > 0
    put(followed, "plain", "part-1", b"silent")
    grown = sizes(followed)["plain"]
    assert (grown.files, grown.length) == (before["plain"].files + 1, before["plain"].length + len(b"silent"))


@pytest.mark.parametrize(("table", "values"), [("plain", None), ("orders", ("a b",))])
def test_an_append_without_an_event_is_brought_over_and_stamped(followed: Followed, table: str, values) -> None:
    put(followed, table, "part-1", b"silent", values)
    scanned = scan(followed)
    assert len(scanned.followed) == 1
    assert same(followed)
    position = followed.world.replica.database("sales").parameters["repl.last.id"]
    there = followed.world.replica.table(TableName("sales", table))
    marked = there if values is None else followed.world.replica.partitions(there.name, ["p=a b"])[0]
    assert marked.parameters["twinhive.stamp"].endswith(f":{position}")


@pytest.mark.parametrize(("table", "values"), [("plain", None), ("orders", ("a b",))])
def test_an_overwrite_without_an_event_replaces_the_content(followed: Followed, table: str, values) -> None:
    location = followed.users.location(table, values)
    for path in [path for path in followed.world.source_files.paths() if path.startswith(location + "/")]:
        followed.world.source_files.delete(path)
    put(followed, table, "part-1", b"silent", values)
    before = followed.world.replica.table(TableName("sales", table)).location
    assert len(scan(followed).followed) == 1
    assert same(followed)
    if values is None:
        assert followed.world.replica.table(TableName("sales", table)).location != before


def test_a_file_with_other_content_of_the_same_length_is_a_change(followed: Followed) -> None:
    put(followed, "plain", "data", b"PLAIN")
    assert len(scan(followed).followed) == 1
    assert same(followed)


def test_where_a_file_system_has_no_checksums_bytes_tell_a_change(followed: Followed) -> None:
    for files in (followed.world.source_files, followed.world.replica_files):
        files._has_checksums = False
    assert scan(followed, deep=True).followed == ()
    put(followed, "plain", "data", b"PLAIN")
    assert len(scan(followed).followed) == 1
    assert same(followed)


def test_what_is_still_being_written_waits_for_the_next_scan(followed: Followed) -> None:
    put(followed, "plain", "part-1", b"silent")
    scanned = scan(followed, during=lambda: put(followed, "plain", "part-2", b"more"))
    assert scanned.followed == ()
    assert len(scanned.waiting) == 1
    assert len(scan(followed).followed) == 1
    assert same(followed)


@pytest.mark.parametrize("directory", ["_temporary", ".hive-staging_1", ".spark-staging-1"])
def test_a_directory_with_unfinished_writes_waits(followed: Followed, directory: str) -> None:
    put(followed, "plain", "part-1", b"silent")
    followed.world.source_files.make_directories(f"{followed.users.location('plain')}/{directory}")
    assert scan(followed).followed == ()


def test_a_difference_that_an_event_explains_is_left_to_the_event(followed: Followed) -> None:
    followed.users.insert("plain", None, [b"told"])
    touch(followed, followed.users.location("plain"))
    assert scan(followed).followed == ()
    followed.follow()
    assert same(followed)


def test_an_event_that_comes_while_the_scan_waits_explains_the_files(followed: Followed) -> None:
    location = followed.users.location("plain")
    followed.world.source_files.put(f"{location}/told", b"told")
    touch(followed, location)
    scanned = scan(followed, during=lambda: followed.users.set_parameters("plain", {"k": "v"}))
    assert scanned.followed == ()


def test_an_event_after_the_scan_brought_its_files_changes_nothing(followed: Followed) -> None:
    files = followed.world.source_files
    location = followed.users.location("plain")
    files.put(f"{location}/late", b"late")
    touch(followed, location)
    assert len(scan(followed).followed) == 1
    path = f"{location}/late"
    followed.world.source.fire_insert(TableName("sales", "plain"), None, [(path, files.checksum(path, IDENTITY))])
    followed.follow()
    assert same(followed)


@pytest.mark.parametrize("known", [(), ("one",)], ids=["no checksums", "some checksums"])
@pytest.mark.parametrize(("table", "values"), [("plain", None), ("orders", ("a b",))])
@pytest.mark.parametrize("consistency", ["every_event", "window_end"])
def test_rows_that_are_replaced_by_nobody_knows_what_stay_until_the_scan(table, values, known, consistency) -> None:
    followed = Followed(tuned(consistency=consistency))
    scan(followed)
    files, location = followed.world.source_files, followed.users.location(table, values)
    before = contents(followed.world.replica, followed.world.replica_files)[f"sales.{table}"]
    for path in [path for path in files.paths() if path.startswith(location + "/")]:
        files.delete(path)
    paths = [f"{location}/{name}" for name in ("one", "two")]
    for path in paths:
        files.put(path, b"new rows")
    touch(followed, location)
    named = [(path, files.checksum(path, IDENTITY) if path.endswith(known or "-") else None) for path in paths]
    followed.world.source.fire_insert(TableName("sales", table), values, named, replaces=True)
    followed.follow()
    assert contents(followed.world.replica, followed.world.replica_files)[f"sales.{table}"] == before
    assert scan(followed).followed
    assert same(followed)


def test_rows_that_are_replaced_by_none_go() -> None:
    followed = Followed()
    followed.users.overwrite("plain", None, [])
    followed.follow()
    followed.assert_twin()
    assert contents(followed.world.replica, followed.world.replica_files)["sales.plain"]["files"] == {}


def test_report_and_fail_name_the_table_and_change_nothing(followed: Followed) -> None:
    put(followed, "plain", "part-1", b"silent")
    followed.policy = tuned(followed.policy, silent_writes="report")
    assert "plain" in scan(followed).reported[0]
    assert not same(followed)
    put(followed, "plain", "part-2", b"silent")
    followed.policy = tuned(followed.policy, silent_writes="fail")
    with pytest.raises(ActNow, match="without an event"):
        scan(followed)
    assert not same(followed)


def test_a_deep_scan_sees_what_times_of_directories_hide(followed: Followed) -> None:
    followed.world.source_files.rewrite(f"{followed.users.location('plain')}/data", b"PLAIN")
    assert scan(followed).followed == ()
    assert len(scan(followed, deep=True).followed) == 1
    assert same(followed)


def test_unused_directories_go_after_the_grace_and_used_ones_never(followed: Followed) -> None:
    followed.users.overwrite("plain", None, [b"other"])
    followed.users.overwrite("orders", ("a b",), [b"other"])
    followed.users.drop_partitions("orders", [("no files",)])
    followed.users.drop_table("empty")
    followed.follow()
    staging = followed.policy.staging
    before = {path for path in followed.world.replica_files.paths() if not path.startswith(f"{staging}/")}
    assert scan(followed).swept == 0
    followed.world.replica_files.pass_time(100)
    assert scan(followed).swept == 0
    assert before <= set(followed.world.replica_files.paths())
    followed.world.replica_files.pass_time(followed.policy.options.grace_seconds)
    assert scan(followed).swept >= 4
    assert same(followed)


@pytest.mark.parametrize("kind", [LeaseKind.EVENTS, LeaseKind.LOAD, LeaseKind.STATEMENT])
def test_a_scan_leaves_what_differs_to_the_next_one_while_work_holds_the_lease(
    followed: Followed, kind: LeaseKind
) -> None:
    put(followed, "plain", "part-1", b"silent")
    with followed.world.lease.hold(f"{followed.policy.staging}/lease", {"run": "other"}, kind) as work:
        scanned = scan(followed)
        assert (scanned.followed, len(scanned.waiting)) == ((), 1)
        work.confirm()
    assert not same(followed)
    assert len(scan(followed).followed) == 1
    assert same(followed)
