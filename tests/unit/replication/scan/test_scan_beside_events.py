"""A scan decides by what is true when it holds the lease: busy tables wait, all others follow, nothing goes back."""

from collections.abc import Callable

import pytest

from tests.support.worlds.memory_comparison import contents
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.incremental.test_incremental_killed import killed_at
from tests.unit.replication.scan.test_scan import put, same, scan
from twinhive.core.model.marks import STAMP, Stamp
from twinhive.core.model.names import TableName
from twinhive.operations.actions.resync import Resync
from twinhive.operations.actions.skip_event import SkipEvent
from twinhive.replication.scan import silent_differences


@pytest.fixture
def followed() -> Followed:
    followed = Followed()
    scan(followed)
    return followed


def silently_overwritten(followed: Followed, table: str) -> None:
    location = followed.users.location(table)
    for path in [path for path in followed.world.source_files.paths() if path.startswith(location + "/")]:
        followed.world.source_files.delete(path)
    put(followed, table, "part-1", b"silent")


def stamp_of(followed: Followed, table: str) -> int:
    there = followed.world.replica.table(TableName("sales", table))
    assert there is not None
    stamp = Stamp.parse(there.parameters[STAMP])
    assert stamp is not None
    return stamp.event_id


def while_it_copies(monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], None]) -> None:
    """Let something happen between a scan's copying and its taking of the lease."""
    copy = silent_differences.copy_items  # type: ignore[attr-defined]

    def copying(*args, **options):
        copied = copy(*args, **options)
        meanwhile()
        return copied

    monkeypatch.setattr(silent_differences, "copy_items", copying)


@pytest.mark.parametrize("applied", [True, False], ids=["applied", "still to be applied"])
def test_the_first_scan_follows_a_table_though_another_has_events_all_the_time(
    followed: Followed, monkeypatch: pytest.MonkeyPatch, applied: bool
) -> None:
    put(followed, "plain", "part-1", b"silent")

    def busy() -> None:
        followed.users.insert("orders", ("a b",), [b"x"])
        if applied:
            followed.follow()

    while_it_copies(monkeypatch, busy)
    assert len(scan(followed, during=busy).followed) == 1
    position = int(followed.world.replica.database("sales").parameters["repl.last.id"])
    assert stamp_of(followed, "plain") == position
    followed.follow()
    assert same(followed)


def test_a_table_that_moves_while_its_files_are_copied_is_left_to_its_events(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(followed, "plain", "part-1", b"silent")

    def moves() -> None:
        followed.users.insert("plain", None, [b"told"])
        followed.follow()

    while_it_copies(monkeypatch, moves)
    scanned = scan(followed)
    assert (scanned.followed, len(scanned.waiting)) == ((), 1)
    monkeypatch.undo()
    assert len(scan(followed).followed) == 1
    assert same(followed)


@pytest.mark.parametrize("kill", range(1, 12))
def test_no_object_goes_back_behind_the_event_that_a_killed_apply_has_brought(
    followed: Followed, monkeypatch: pytest.MonkeyPatch, kill: int
) -> None:
    silently_overwritten(followed, "plain")
    before: list[tuple[object, int]] = []

    def killed() -> None:
        followed.users.insert("plain", None, {"told": b"told"})
        killed_at(followed, kill, after_effect=True)
        followed.world.lease.known_dead.add(f"{followed.policy.staging}/lease")
        before.append((rows(followed), stamp_of(followed, "plain")))

    while_it_copies(monkeypatch, killed)
    scan(followed)
    assert before == [(rows(followed), stamp_of(followed, "plain"))]
    monkeypatch.undo()
    followed.follow()
    scan(followed)
    assert same(followed)


def rows(followed: Followed) -> object:
    return contents(followed.world.replica, followed.world.replica_files)["sales.plain"]["files"]


def test_what_was_seen_before_its_event_was_applied_is_looked_at_again(followed: Followed) -> None:
    followed.users.create_table("ctas")
    put(followed, "ctas", "part-0", b"rows")
    assert scan(followed).followed == ()
    followed.follow()
    assert not same(followed)
    assert len(scan(followed).followed) == 1
    assert same(followed)
    assert scan(followed).suspects == 0


def test_a_partition_seen_before_its_event_was_applied_is_looked_at_again(followed: Followed) -> None:
    followed.users.add_partitions("orders", {("new",): []})
    put(followed, "orders", "part-0", b"rows", ("new",))
    assert scan(followed).followed == ()
    followed.follow()
    assert len(scan(followed).followed) == 1
    assert same(followed)


def test_an_event_that_cannot_be_read_stops_no_scan_and_explains_whatever_differs_until_it_is_skipped(
    followed: Followed,
) -> None:
    put(followed, "plain", "part-1", b"silent")
    followed.world.source.emit("NEW_KIND", None, None, {"x": 1})
    scanned = scan(followed)
    assert (scanned.followed, len(scanned.waiting)) == ((), 1)
    event_id = followed.world.source.current_event_id()
    SkipEvent(followed.policy, event_id, "seen", {"by": "me"}).run(followed.world.ports())
    assert len(scan(followed).followed) == 1
    assert same(followed)


def test_a_table_that_is_brought_over_whole_while_a_scan_copies_its_files_stays_as_that_left_it(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(followed, "plain", "part-1", b"silent")
    before: list[tuple[object, int]] = []

    def brought_over() -> None:
        followed.users.insert("orders", ("a b",), [b"x"])
        Resync(followed.policy, "plain", {"by": "me"}).run(followed.world.ports())
        followed.follow()
        before.append((rows(followed), stamp_of(followed, "plain")))

    while_it_copies(monkeypatch, brought_over)
    scanned = scan(followed)
    assert (scanned.followed, len(scanned.waiting)) == ((), 1)
    assert before == [(rows(followed), stamp_of(followed, "plain"))]
    assert same(followed)
