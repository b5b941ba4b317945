"""Files that events bring and do not name: the replica has them with the event, and never a mixture with others."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.fake_world import a_world, tuned
from tests.support.worlds.memory_comparison import contents
from tests.unit.replication.incremental.test_incremental import POLICY, Followed, nested_directories
from tests.unit.replication.incremental.test_incremental_killed import follow_noticed
from tests.unit.runtime.dry_run.test_rehearsal import plan, section
from twinhive.core.model.files import base_name
from twinhive.core.model.marks import SOURCE_PLACE
from twinhive.core.model.names import TableName
from twinhive.core.model.quarantine import frozen_tables
from twinhive.operations.actions.replica_status import read_status
from twinhive.operations.actions.resync import Resync
from twinhive.replication.notification_log.unnamed_files import _Looking
from twinhive.runtime.pipeline.phases import BOOTSTRAP, INCREMENTAL
from twinhive.runtime.pipeline.runner import run_rounds

ORDERS = TableName("sales", "orders")
ELSEWHERE = "hdfs://east/elsewhere/orders"
A_B = ("a b",)
Rows = dict[str, bytes]


def put(followed: Followed, name: str, content: bytes = b"") -> str:
    """Write a directory with one file; return its location."""
    followed.world.source_files.put(f"{ELSEWHERE}/{name}/f", content or name.encode())
    return f"{ELSEWHERE}/{name}"


def rows(followed: Followed, table: str = "orders", values: tuple[str, ...] | None = A_B) -> Rows:
    said = contents(followed.world.replica, followed.world.replica_files)[f"sales.{table}"]
    return said["files"] if values is None else said["partitions"][values][1]


def to_the_end(followed: Followed) -> None:
    for _ in range(20):
        if followed.follow()["window"].idle:
            return
    raise AssertionError("it does not come to an end")


@contextmanager
def watched(followed: Followed, values: tuple[str, ...] = A_B) -> Iterator[list[Rows]]:
    """Collect the different contents of a partition that readers of the replica see."""
    seen = [rows(followed, values=values)]
    replica = followed.world.replica
    calls = {name: getattr(replica, name) for name in ("alter_partitions", "alter_table", "create_table")}

    def looking(call: Callable) -> Callable:
        def look(*args, **kwargs):
            result = call(*args, **kwargs)
            now = contents(replica, followed.world.replica_files).get("sales.orders", {"partitions": {}})
            if values in now["partitions"] and now["partitions"][values][1] != seen[-1]:
                seen.append(now["partitions"][values][1])
            return result

        return look

    for name, call in calls.items():
        setattr(replica, name, looking(call))
    yield seen
    for name in calls:
        delattr(replica, name)


@pytest.mark.parametrize("says_before", [True, False])
def test_a_partition_in_another_place_has_what_is_there_and_then_what_comes(says_before: bool) -> None:
    followed = Followed()
    first, second = put(followed, "one"), put(followed, "two")
    with watched(followed) as seen:
        followed.users.set_partition_location("orders", A_B, first, says_before=says_before)
        followed.users.insert("orders", A_B, {"z": b"appended"})
        followed.users.set_partition_location("orders", A_B, second, says_before=says_before)
        followed.follow()
    assert seen[1:] == [{"f": b"one"}, {"f": b"one", "z": b"appended"}, {"f": b"two"}]
    followed.assert_twin()


def test_a_partition_goes_back_to_its_default_place() -> None:
    followed = Followed()
    default = followed.users.location("orders", A_B)
    followed.users.set_partition_location("orders", A_B, put(followed, "one"), says_before=False)
    followed.follow()
    there = followed.world.replica.partitions(ORDERS, ["p=a b"])[0]
    assert there.parameters[SOURCE_PLACE] == f"{ELSEWHERE}/one"
    followed.users.set_partition_location("orders", A_B, default, says_before=False)
    followed.follow()
    followed.assert_twin()
    assert SOURCE_PLACE not in followed.world.replica.partitions(ORDERS, ["p=a b"])[0].parameters


def test_a_change_of_a_partition_that_stays_where_it_is_copies_nothing() -> None:
    followed = Followed()
    followed.users.set_partition_location("orders", A_B, put(followed, "one"))
    followed.follow()
    place = followed.world.replica.partitions(ORDERS, ["p=a b"])[0].location
    followed.users.alter_partitions("orders", [A_B, ("no files",)], {"k": "v"})
    followed.users.rename_table("orders", "sold")
    followed.users.alter_partitions("sold", [A_B, ("50%=#:ü",)], {"k": "w"})
    window = followed.follow()["window"]
    assert window.batches == ()
    assert followed.world.replica.partitions(TableName("sales", "sold"), ["p=a b"])[0].location == place
    followed.assert_twin()


def test_a_table_in_another_place_comes_whole_and_is_never_a_mixture() -> None:
    followed = Followed(tuned(window_events=1))
    old = rows(followed, "plain", None)
    put(followed, "plain", b"other rows")
    seen: list[Rows] = []
    followed.users.set_location("plain", f"{ELSEWHERE}/plain")
    followed.users.insert("plain", None, {"z": b"appended"})
    for _ in range(8):
        followed.follow()
        if rows(followed, "plain", None) not in seen:
            seen.append(rows(followed, "plain", None))
    assert seen[0] == old
    assert seen[1:] == [{"f": b"other rows", "z": b"appended"}]
    to_the_end(followed)
    followed.assert_twin()


def overwritten(users: SourceWriter) -> None:
    users.overwrite("orders", A_B, {"f": b"overwritten"})


def appended_and_overwritten(users: SourceWriter) -> None:
    users.insert("orders", A_B, {"g": b"appended"})
    users.overwrite("orders", A_B, {"f": b"overwritten"})


def appended_and_truncated(users: SourceWriter) -> None:
    users.insert("orders", A_B, {"g": b"appended"})
    users.truncate("orders", [A_B])


def dropped(users: SourceWriter) -> None:
    users.drop_partitions("orders", [A_B])


def appended_dropped_and_added(users: SourceWriter) -> None:
    users.insert("orders", A_B, {"g": b"appended"})
    users.drop_partitions("orders", [A_B])
    users.add_partitions("orders", {A_B: {"f": b"new", "below/f": b"nested"}})


def renamed(users: SourceWriter) -> None:
    users.rename_partition("orders", A_B, ("c d",))
    users.rename_table("orders", "sold")
    users.insert("sold", ("c d",), {"g": b"appended"})


def appended_overwritten_and_table_renamed(users: SourceWriter) -> None:
    appended_and_overwritten(users)
    users.rename_table("orders", "sold")
    users.create_table("orders", keys=("p",))
    users.add_partitions("orders", {A_B: {"f": b"new"}})


AFTER = [
    overwritten,
    appended_and_overwritten,
    appended_and_truncated,
    dropped,
    appended_dropped_and_added,
    renamed,
    appended_overwritten_and_table_renamed,
]


@pytest.mark.thorough
@pytest.mark.parametrize("later", AFTER, ids=lambda one: one.__name__)
@pytest.mark.parametrize("options", [{}, {"window_events": 1}, {"consistency": "window_end"}], ids=str)
def test_what_is_gone_before_it_was_seen_makes_no_mixture(later: Callable[[SourceWriter], None], options: dict) -> None:
    followed = Followed(tuned(**options))
    with watched(followed) as seen:
        followed.users.set_partition_location("orders", A_B, put(followed, "one"), says_before=False)
        later(followed.users)
        to_the_end(followed)
    followed.assert_twin()
    old, new = {"f1", "sub dir/f2"}, set(seen[-1])
    for state in seen[:-1]:
        assert set(state) <= old or not set(state) & (old - new), seen
    assert not read_status(followed.world.ports(), followed.policy).quarantined


def test_a_partition_never_shows_the_nothing_of_a_place_that_it_has_left_and_that_is_gone() -> None:
    followed = Followed()
    with watched(followed) as seen:
        followed.users.set_partition_location("orders", A_B, put(followed, "one"))
        followed.users.set_partition_location("orders", A_B, put(followed, "two"))
        followed.world.source_files.delete(f"{ELSEWHERE}/one")
        to_the_end(followed)
    assert {} not in seen
    followed.assert_twin()


def test_a_partition_that_went_to_another_file_system_and_back_stops_nothing() -> None:
    followed = Followed(tuned(window_events=1))
    followed.users.set_partition_location("orders", A_B, "s3a://bucket/orders", says_before=False)
    followed.users.set_partition_location("orders", A_B, put(followed, "back"), says_before=False)
    to_the_end(followed)
    followed.assert_twin()


class Unpublished(Followed):
    """A world whose dump is made and not consolidated."""

    def __init__(self) -> None:
        self.policy, self.world = POLICY, a_world()
        self.log: list[str] = []
        self.users = SourceWriter(self.world.source, self.world.source_files, "sales")
        self.run_with(self.world.ports(), BOOTSTRAP)

    def publish(self) -> None:
        run_rounds(POLICY, self.world.ports(), {"run": "b"}, self.log.append)


@pytest.mark.parametrize("later", AFTER, ids=lambda one: one.__name__)
def test_rounds_and_windows_agree(later: Callable[[SourceWriter], None]) -> None:
    fresh = Unpublished()
    fresh.users.set_partition_location("orders", A_B, put(fresh, "one"), says_before=False)
    nested_directories(fresh.users)
    later(fresh.users)
    fresh.publish()
    fresh.assert_twin()


def test_a_dry_run_says_that_a_moved_partition_is_replaced() -> None:
    followed = Followed()
    followed.users.set_partition_location("orders", A_B, put(followed, "one"), says_before=False)
    planned = plan(followed.world, "incremental")
    assert section(planned, "overwrite", "partitions").names == ("sales.orders p=a b",)
    assert section(planned, "copy", "files of tables").files == 1


def test_files_that_the_source_moves_on_while_they_wait_are_found() -> None:
    followed = Followed()
    followed.users.create_table("united", files={"f": b"one", "1/f": b"two"})
    followed.users.set_partition_location("orders", A_B, put(followed, "one"), says_before=False)
    followed.run_with(followed.world.ports(), INCREMENTAL[:1])
    followed.users.rename_table("united", "renamed")
    followed.users.rename_partition("orders", A_B, ("c",))
    to_the_end(followed)
    followed.assert_twin()


WAITING = tuned(spark_above_files=0)
"""Files wait for a job of their own after the window was cut."""


@pytest.mark.parametrize("values", [A_B, ("renamed before",)])
@pytest.mark.parametrize("to", ["taking", "renamed"])
def test_a_nested_file_that_an_exchange_moves_on_while_it_waits_is_found(to: str, values: tuple[str, ...]) -> None:
    followed = Followed(WAITING)
    followed.users.create_table("taking", keys=("p",))
    followed.users.create_table("given", keys=("p",))
    followed.users.add_partitions("given", {A_B: {"f": b"named", "1/f": b"nested"}})
    followed.run_with(followed.world.ports(), INCREMENTAL[:1])
    if values != A_B:
        followed.users.rename_partition("given", A_B, values)
    followed.users.exchange_partition("given", "taking", values)
    if to != "taking":
        followed.users.rename_table("taking", to)
    followed.run_with(followed.world.ports(), INCREMENTAL)
    assert rows(followed, "given") == {"f": b"named", "1/f": b"nested"}
    to_the_end(followed)
    followed.assert_twin()


def one_and_two(window_events: int) -> Followed:
    """Return a world with two tables of the same partition."""
    followed = Followed(tuned(window_events=window_events))
    for name in ("one", "two"):
        followed.users.create_table(name, keys=("p",))
    followed.users.add_partitions("one", {A_B: {"f": b"named"}})
    to_the_end(followed)
    return followed


def swap(users: SourceWriter, one: str, other: str) -> None:
    for before, after in ((one, "between"), (other, one), ("between", other)):
        users.rename_table(before, after)


def test_nested_files_are_found_when_another_table_lies_in_their_place() -> None:
    followed = one_and_two(1)
    followed.users.add_partitions("two", {A_B: {"1/f": b"nested"}})
    swap(followed.users, "one", "two")
    followed.follow()
    assert rows(followed, "two") == {"1/f": b"nested"}
    to_the_end(followed)
    followed.assert_twin()


@pytest.mark.parametrize("when", ["events_after", "checksum"])
def test_nested_files_are_found_when_a_rename_comes_while_they_are_looked_at(
    when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed = one_and_two(1)
    followed.users.add_partitions("two", {A_B: {"1/f": b"nested"}})
    port = followed.world.source if when == "events_after" else followed.world.source_files
    call = getattr(port, when)

    def renamed_first(*args):
        monkeypatch.setattr(port, when, call)
        swap(followed.users, "one", "two")
        return call(*args)

    listing = _Looking._listed

    def listed(*args):
        found = listing(*args)
        if not renames:
            renames.append(when)
            monkeypatch.setattr(port, when, renamed_first)
        return found

    renames: list[str] = []
    monkeypatch.setattr(_Looking, "_listed", listed)
    followed.follow()
    assert rows(followed, "two") == {"1/f": b"nested"}
    to_the_end(followed)
    followed.assert_twin()


def test_far_behind_a_directory_without_nested_files_does_not_make_each_window_read_all_the_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("twinhive.replication.notification_log.unnamed_files._NEAR_EVENTS", 10)
    followed = Followed(tuned(window_events=1))
    followed.users.add_partitions("orders", {("new",): {"f": b"named"}})
    for number in range(150):
        followed.users.alter_partitions("orders", [A_B], {"k": str(number)})
    asked: list[int] = []
    reads = followed.world.source.events_after
    monkeypatch.setattr(
        followed.world.source, "events_after", lambda begin, *rest: asked.append(begin) or reads(begin, *rest)
    )
    followed.run_with(followed.world.ports(), INCREMENTAL[:1])
    assert max(asked) < min(asked) + 60


def test_killed_at_any_change_it_converges() -> None:
    def begin() -> Followed:
        followed = Followed()
        followed.users.set_partition_location("orders", A_B, put(followed, "one"), says_before=False)
        appended_and_overwritten(followed.users)
        nested_directories(followed.users)
        return followed

    for followed in left_by_kills(begin, follow_noticed, 2, least=20):
        to_the_end(followed)
        followed.assert_twin()


def untold(followed: Followed, table: str) -> None:
    """Let events say of a partition what nobody can tell any more when the window is cut."""
    followed.users.set_partition_location(table, A_B, put(followed, "one"))
    followed.users.insert(table, A_B, {"z": b"appended"})
    followed.users.overwrite(table, A_B, {"y": b"new"})


def renamed_after(followed: Followed) -> None:
    untold(followed, "orders")
    followed.users.rename_table("orders", "sold")
    followed.users.insert("sold", A_B, [b"later"])


def renamed_before(followed: Followed) -> None:
    followed.users.rename_table("orders", "sold")
    untold(followed, "sold")


def renamed_before_it_got_another_place(followed: Followed) -> None:
    followed.users.rename_table("plain", "bland")
    followed.users.rename_table("bland", "blond")
    put(followed, "plain")
    followed.users.set_location("blond", f"{ELSEWHERE}/plain")
    followed.users.rename_table("blond", "plain")


@pytest.mark.parametrize("happens", [renamed_after, renamed_before, renamed_before_it_got_another_place])
@pytest.mark.parametrize("window_events", [2, 3, 1000])
def test_what_renames_link_to_a_table_that_comes_whole_comes_with_it_and_nothing_stays_frozen(
    happens: Callable[[Followed], None], window_events: int
) -> None:
    followed = Followed(tuned(window_events=window_events))
    happens(followed)
    to_the_end(followed)
    assert frozen_tables(followed.world.replica.database("sales").parameters) == {}
    followed.assert_twin()


@pytest.mark.parametrize("says_before", [True, False])
def test_the_table_of_a_partition_on_another_file_system_waits_by_the_name_of_its_event(says_before: bool) -> None:
    followed = Followed()
    followed.users.set_partition_location("orders", A_B, "s3a://bucket/orders", says_before=says_before)
    event = followed.world.source.current_event_id()
    to_the_end(followed)
    why = frozen_tables(followed.world.replica.database("sales").parameters)["orders"]
    assert why.startswith(f"since event {event} partition p=a b lies at s3a://bucket/orders")
    assert why.endswith("then: twinhive resync sales orders")
    followed.users.set_partition_location("orders", A_B, put(followed, "back"), says_before=says_before)
    Resync(followed.policy, "orders", {"by": "test"}).run(followed.world.ports())
    to_the_end(followed)
    followed.assert_twin()


def test_a_partition_on_another_file_system_stops_nothing_when_its_rows_are_gone() -> None:
    followed = Followed()
    followed.users.set_partition_location("orders", A_B, "s3a://bucket/orders")
    followed.users.drop_partitions("orders", [A_B])
    to_the_end(followed)
    followed.assert_twin()


def test_a_file_system_is_the_same_one_with_its_port() -> None:
    followed = Followed()
    followed.users.set_partition_location("orders", A_B, "hdfs://east:8020/elsewhere/orders")
    to_the_end(followed)
    assert (
        followed.world.replica.partitions(ORDERS, ["p=a b"])[0].parameters[SOURCE_PLACE].endswith("/elsewhere/orders")
    )


@pytest.mark.parametrize("options", [{}, {"window_events": 1}], ids=str)
def test_what_lies_by_now_in_a_directory_that_a_table_has_left_is_not_taken_for_its_own(options: dict) -> None:
    followed = Followed(tuned(**options))
    followed.users.create_table("made", files={"f": b"one"})
    followed.users.set_location("made", put(followed, "two"))
    followed.users.drop_table("made")
    followed.users.create_table("made", keys=("p",))
    followed.users.add_partitions("made", {A_B: {"g": b"of another table"}})
    seen: list[Rows] = []
    create = followed.world.replica.create_table
    followed.world.replica.create_table = lambda table: (create(table), seen.append(rows(followed, "made", None)))[0]
    to_the_end(followed)
    assert seen[0] in ({"f": b"one"}, {})
    followed.assert_twin()


@pytest.mark.parametrize("options", [{}, {"window_events": 1}], ids=str)
def test_a_partition_that_comes_back_to_a_place_is_never_a_mixture(options: dict) -> None:
    followed = Followed(tuned(**options))
    old, first = rows(followed), put(followed, "one")
    with watched(followed) as seen:
        for place in (first, put(followed, "two"), first):
            followed.users.set_partition_location("orders", A_B, place)
        followed.users.insert("orders", A_B, {"z": b"appended"})
        to_the_end(followed)
    one, two, last = {"f": b"one"}, {"f": b"two"}, {"f": b"one", "z": b"appended"}
    assert all(after in (old, one, two, last) for after in seen)
    assert last not in seen[:-1]
    followed.assert_twin()


def test_what_another_table_has_put_into_a_place_that_a_partition_has_left_is_not_taken_for_the_partitions() -> None:
    followed = Followed(tuned(window_events=1))
    first = put(followed, "one")
    with watched(followed) as seen:
        followed.users.set_partition_location("orders", A_B, first)
        followed.users.set_partition_location("orders", A_B, put(followed, "two"))
        followed.users.create_table("other", files={"z": b"of another table"}, location=first)
        to_the_end(followed)
    assert all("z" not in after for after in seen)
    followed.assert_twin()


@pytest.mark.parametrize("place", ["one", "default"])
def test_a_partition_that_is_added_before_its_table_gets_another_name_moves_and_is_followed(place: str) -> None:
    followed = Followed()
    followed.users.add_partitions("orders", {("c",): {"f": b"first"}})
    followed.users.rename_table("orders", "sold")
    default = followed.users.location("sold", ("c",))
    location = put(followed, "one") if place == "one" else default
    followed.users.set_partition_location("sold", ("c",), location, says_before=False)
    window = followed.follow()["window"]
    assert sum(batch.files for batch in window.batches) == 0
    assert rows(followed, "sold", ("c",)) == ({"f": b"one"} if place == "one" else {"f": b"first"})
    followed.assert_twin()


def test_a_file_is_found_where_a_rename_of_its_partition_took_it_after_its_table_got_another_place() -> None:
    followed = Followed(tuned(window_events=1))
    followed.users.add_partitions("orders", {("c",): {"f": b"rows"}})
    followed.users.set_location("orders", put(followed, "table"))
    followed.users.rename_partition("orders", ("c",), ("d",))
    followed.follow()
    assert rows(followed, "orders", ("c",)) == {"f": b"rows"}
    to_the_end(followed)
    followed.assert_twin()


def test_what_another_table_has_put_into_a_place_that_a_rename_gave_and_a_partition_has_left_is_not_taken() -> None:
    followed = Followed(tuned(window_events=1))
    default = followed.users.location("orders", A_B)
    followed.world.source_files.put(f"{default}, once more/f", b"one")
    followed.users.create_table("other", keys=("p",))
    followed.users.add_partitions("other", {A_B: {}})
    to_the_end(followed)
    followed.users.set_partition_location("orders", A_B, f"{default}, once more")
    followed.users.rename_table("orders", "sold")
    there = followed.users.location("sold", A_B)
    followed.users.set_partition_location("sold", A_B, put(followed, "two"))
    followed.users.set_partition_location("other", A_B, there)
    followed.users.insert("other", A_B, {"z": b"of another table"})
    followed.follow()
    assert "z" not in rows(followed)
    to_the_end(followed)
    followed.assert_twin()


def test_nested_files_that_come_and_go_while_they_are_looked_at_are_not_left_out() -> None:
    followed = Followed()
    followed.users.add_partitions("orders", {("new",): {"1/f": b"nested", "g": b"named"}})
    files, location = followed.world.source_files, followed.users.location("orders", ("new",))
    files.put(f"{location}/1/0", b"passing")
    looked: list[str] = []
    checksum = files.checksum

    def passing(path, *args, **how):
        if path.startswith(f"{location}/1/") and base_name(path).isdigit():
            looked.append(path)
            files.delete_file(path)
            files.put(f"{location}/1/{len(looked)}", b"passing")
        return checksum(path, *args, **how)

    files.checksum = passing
    followed.run_with(followed.world.ports(), INCREMENTAL[:1])
    files.checksum = checksum
    assert len(looked) > 1
    assert "orders" in frozen_tables(followed.world.replica.database("sales").parameters)
    to_the_end(followed)
    assert rows(followed, values=("new",)).keys() == {"1/f", "g", f"1/{len(looked)}"}
    followed.assert_twin()
