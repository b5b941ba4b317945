"""What on-call asks of a policy: tables brought back, events passed over, replicas given up; killed at any change."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.fake_world import KillSwitch, killable, tuned
from tests.support.worlds.memory_comparison import contents, spoken
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow, Foreign, InvalidSettings, Missing
from twinhive.core.model.files import Attributes
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.marks import without_marks
from twinhive.core.model.names import TableName
from twinhive.core.model.quarantine import frozen_tables
from twinhive.operations.actions.operation import Operation
from twinhive.operations.actions.pause import Pause, Unpause
from twinhive.operations.actions.replica_status import read_status
from twinhive.operations.actions.resync import Resync
from twinhive.operations.actions.skip_event import SkipEvent
from twinhive.operations.actions.unlock import Unlock
from twinhive.operations.failover.forget import Forget
from twinhive.operations.operation_kinds import KINDS, OperationFields, operation_of
from twinhive.replication.operator_requests.request_files import forgetting_has_begun, policies_with_requests
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase

HOLDER = {"run": "terminal-1", "task": "operate", "by": "ann"}
PLAIN = TableName("sales", "plain")
MOST_CHANGES = 300


def followed_by(**options) -> Followed:
    return Followed(tuned(**options))


def resync(followed: Followed, table: str) -> list[str]:
    return Resync(followed.policy, table, HOLDER).run(followed.world.ports())


def insert_and_lose(followed: Followed, table: str = "plain") -> int:
    """Write a file whose content nobody has any more when it is to be copied; return its event."""
    before = set(followed.world.source_files.paths())
    begin = followed.world.source.current_event_id()
    followed.users.insert(table, None, [b"lost"])
    (path,) = (path for path in set(followed.world.source_files.paths()) - before if "/cmroot/" not in path)
    followed.world.source_files.delete(path)
    return next(row.event_id for row in followed.world.source.events if row.event_id > begin)


def parameters(followed: Followed) -> dict[str, str]:
    return dict(followed.world.replica.database("sales").parameters)


def follow_to_the_end(followed: Followed) -> None:
    for _ in range(100):
        if followed.follow()["window"].idle:
            return
    pytest.fail("the replica does not come to an end")


# --- quarantine and resync


def test_a_rename_that_cannot_be_applied_freezes_neither_of_its_two_names() -> None:
    followed = followed_by(on_object_error="quarantine")
    followed.world.replica.drop_table(PLAIN, delete_data=False)
    followed.users.rename_table("plain", "renamed")
    with pytest.raises(ActNow, match="plain"):
        followed.follow()
    assert not frozen_tables(parameters(followed))


def test_a_table_in_trouble_is_frozen_and_the_rest_goes_on() -> None:
    followed = followed_by(on_object_error="quarantine")
    insert_and_lose(followed)
    followed.users.insert("orders", ("a b",), [b"more"])
    followed.users.create_table("made", files=[b"one"])
    followed.follow()
    source = contents(followed.world.source, followed.world.source_files)
    replica = contents(followed.world.replica, followed.world.replica_files)
    assert {name for name in source if source[name] != replica[name]} == {"sales.plain"}
    assert "twinhive.quarantine.plain" in parameters(followed)
    assert replica["sales.plain"]["files"]["data"] == b"plain"


def test_a_resync_brings_a_frozen_table_to_equality_and_releases_it() -> None:
    followed = followed_by(on_object_error="quarantine")
    insert_and_lose(followed)
    followed.follow()
    followed.users.insert("plain", None, [b"after"])
    followed.follow()
    lines = resync(followed, "plain")
    assert any("quarantined" in line for line in lines)
    follow_to_the_end(followed)
    followed.assert_twin()
    assert "twinhive.quarantine.plain" not in parameters(followed)
    assert read_status(followed.world.ports(), followed.policy).requested == ()


def test_a_resync_unblocks_a_window_that_stops_at_a_lost_file(followed: Followed) -> None:
    insert_and_lose(followed)
    with pytest.raises(ActNow, match="twinhive resync"):
        followed.follow()
    resync(followed, "plain")
    follow_to_the_end(followed)
    followed.assert_twin()


def test_a_resync_far_behind_freezes_the_table_until_the_window_that_brings_it() -> None:
    followed = followed_by(window_events=1)
    insert_and_lose(followed)
    followed.users.insert("orders", ("a b",), [b"more"])
    followed.users.insert("plain", None, [b"after"])
    with pytest.raises(ActNow):
        followed.follow()
    resync(followed, "plain")
    followed.follow()
    assert "waits" in parameters(followed)["twinhive.quarantine.plain"]
    follow_to_the_end(followed)
    followed.assert_twin()


@pytest.mark.parametrize("table", ["plain", "orders", "recent", "empty"])
def test_a_resync_needs_no_event(followed: Followed, table: str) -> None:
    """A table whose last event is the replica's position is built anew, in a place of its own."""
    there = followed.world.replica.table(TableName("sales", table))
    for path in followed.world.replica_files.paths():
        if there.location and path.startswith(there.location + "/"):
            followed.world.replica_files.delete(path)
    resync(followed, table)
    assert not followed.follow()["window"].idle
    followed.assert_twin()
    position = parameters(followed)["repl.last.id"]
    assert followed.follow()["window"].idle
    resync(followed, table)
    follow_to_the_end(followed)
    followed.assert_twin()
    assert parameters(followed)["repl.last.id"] == position


def test_a_table_that_the_source_dropped_without_a_word_is_removed(followed: Followed) -> None:
    del followed.world.source._tables[PLAIN]
    lines = resync(followed, "plain")
    assert any("removed from the replica" in line for line in lines)
    follow_to_the_end(followed)
    assert followed.world.replica.table(PLAIN) is None
    followed.assert_twin()


def test_a_resync_takes_the_other_name_of_a_rename_along(followed: Followed) -> None:
    resync(followed, "plain")
    followed.users.insert("plain", None, [b"more"])
    followed.users.rename_table("plain", "old")
    followed.users.create_table("plain", files=[b"new"])
    follow_to_the_end(followed)
    followed.assert_twin()


def test_a_frozen_table_freezes_the_name_that_it_is_renamed_to() -> None:
    followed = followed_by(on_object_error="quarantine")
    insert_and_lose(followed)
    followed.users.rename_table("plain", "old")
    follow_to_the_end(followed)
    frozen = read_status(followed.world.ports(), followed.policy).quarantined
    assert set(frozen) == {"plain", "old"}
    resync(followed, "plain")
    resync(followed, "old")
    follow_to_the_end(followed)
    followed.assert_twin()


def test_a_table_that_changes_while_it_is_copied_is_read_again(followed: Followed) -> None:
    location = followed.world.source.table(PLAIN).location
    followed.world.source_files.changes_when_opened = {f"{location}/data"}
    followed.world.replica_files.put(f"{followed.world.replica.table(PLAIN).location}/data", b"damaged")
    resync(followed, "plain")
    followed.users.insert("orders", ("a b",), [b"more"])
    with pytest.raises(ActNow, match="not copied"):
        followed.follow()
    followed.follow()
    assert any("is planned again" in line for line in followed.log)
    follow_to_the_end(followed)
    followed.assert_twin()


def test_a_window_without_a_new_request_is_not_cut_anew(followed: Followed) -> None:
    resync(followed, "plain")
    followed.users.insert("orders", ("a b",), [b"more"])
    first = run_phase(INCREMENTAL[:1], followed.policy, followed.world.ports(), HOLDER, followed.log.append)
    second = run_phase(INCREMENTAL[:1], followed.policy, followed.world.ports(), HOLDER, followed.log.append)
    assert first["window"].dump == second["window"].dump


def test_a_foreign_table_is_not_replaced(followed: Followed) -> None:
    there = followed.world.replica.table(PLAIN)
    followed.world.replica.alter_table(PLAIN, there.with_parameters(without_marks(there.parameters)))
    with pytest.raises(Foreign, match="not made by policy"):
        resync(followed, "plain")
    assert not read_status(followed.world.ports(), followed.policy).requested


@pytest.mark.parametrize(
    ("table", "family", "said"),
    [
        ("nowhere", Missing, "no table nowhere on either side"),
        ("outside", InvalidSettings, "is not replicated"),
        ("secret", InvalidSettings, "does not select 'secret'"),
    ],
)
def test_a_resync_that_cannot_be_is_refused(table: str, family: type[ActNow], said: str) -> None:
    followed = Followed(replace(tuned(), exclude=("secret",)))
    operation = Resync(followed.policy, table, HOLDER)
    for act in (operation.plan, operation.run):
        with pytest.raises(family, match=said):
            act(followed.world.ports())


def test_a_name_may_be_given_with_its_database_and_in_any_case(followed: Followed) -> None:
    resync(followed, "Sales.PLAIN")
    assert read_status(followed.world.ports(), followed.policy).requested == ("plain",)


# --- skip-event


def poison(followed: Followed, **row) -> int:
    fields = {"event_type": "ALTER_TABLE", "database": "sales", "table": "plain", **row}
    return followed.world.source.emit(**fields, message={"nonsense": 1}).event_id


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"event_type": "REFRESH_EVERYTHING", "table": None},
        {"event_type": "REFRESH_EVERYTHING", "database": None, "table": None},
        {"database": "neighbour"},
    ],
    ids=["unreadable", "unknown type", "unknown type of no database", "unreadable, of a neighbour"],
)
def test_an_event_that_nobody_can_read_is_passed_over_and_recorded(followed: Followed, row: dict) -> None:
    event_id = poison(followed, **row)
    followed.users.insert("plain", None, [b"more"])
    with pytest.raises(ActNow, match=f"twinhive skip-event .* {event_id}"):
        followed.follow()
    lines = SkipEvent(followed.policy, event_id, "looked at it\nwith Bob", HOLDER).run(followed.world.ports())
    assert any(str(event_id) in line for line in lines)
    follow_to_the_end(followed)
    followed.assert_twin()
    assert parameters(followed)[f"twinhive.skipped.{event_id}"] == "looked at it with Bob"


def test_an_event_of_a_window_that_was_begun_is_passed_over(followed: Followed) -> None:
    event_id = insert_and_lose(followed)
    followed.users.insert("orders", ("a b",), [b"more"])
    with pytest.raises(ActNow):
        followed.follow()
    SkipEvent(followed.policy, event_id, "rows of no use", HOLDER).run(followed.world.ports())
    follow_to_the_end(followed)
    status = read_status(followed.world.ports(), followed.policy)
    assert status.behind == 0
    assert status.skipped == {event_id: "rows of no use"}
    assert followed.world.replica_files.read(f"{followed.world.replica.table(PLAIN).location}/data") == b"plain"


def test_events_that_cannot_be_skipped_are_refused_with_what_they_are(followed: Followed) -> None:
    position = int(parameters(followed)["repl.last.id"])
    followed.users.insert("plain", None, [b"x"])
    outside = followed.world.source.emit("OPEN_TXN", None, None, {}).event_id
    newest = followed.world.source.current_event_id()
    for event_id, said in (
        (position, f"is at event {position}"),
        (newest + 1, f"the newest event of east is {newest}"),
        (outside, "not in the scope"),
    ):
        with pytest.raises(InvalidSettings, match="event_id") as refusal:
            SkipEvent(followed.policy, event_id, "why", HOLDER).run(followed.world.ports())
        assert said in str(refusal.value)
    with pytest.raises(InvalidSettings, match="reason"):
        SkipEvent(followed.policy, position + 1, " \n", HOLDER).plan(followed.world.ports())


def test_a_skip_says_what_the_event_is(followed: Followed) -> None:
    event_id = insert_and_lose(followed)
    lines = SkipEvent(followed.policy, event_id, "why", HOLDER).plan(followed.world.ports())
    assert f"event {event_id} of " in lines[0]
    assert "INSERT of sales.plain" in lines[0]


# --- unlock, pause


def test_unlock_fences_the_holder_and_says_who_it_was(followed: Followed) -> None:
    ports = followed.world.ports()
    directory = f"{followed.policy.staging}/lease"
    dead = ports.lease.hold(directory, {"run": "killed one"}, LeaseKind.EVENTS)
    held = dead.__enter__()
    plan = Unlock(followed.policy, HOLDER).plan(ports)
    assert "killed one" in plan[0]
    assert ports.lease.holder(directory) is not None
    Unlock(followed.policy, HOLDER).run(ports)
    assert ports.lease.holder(directory) is None
    with pytest.raises(Exception, match="not ours any more"):
        held.confirm()
    assert Unlock(followed.policy, HOLDER).run(ports) == ["nobody holds the lease of policy sales: nothing to do"]


def test_a_paused_policy_applies_nothing_until_it_goes_on(followed: Followed) -> None:
    followed.users.insert("plain", None, [b"more"])
    Pause(followed.policy, "upgrade", HOLDER).run(followed.world.ports())
    assert followed.follow()["window"].idle
    assert read_status(followed.world.ports(), followed.policy).paused == "upgrade"
    assert "upgrade" in Unpause(followed.policy).run(followed.world.ports())[0]
    followed.follow()
    followed.assert_twin()
    assert "nothing to do" in Unpause(followed.policy).run(followed.world.ports())[0]


# --- forget


def everything(followed: Followed) -> dict:
    return contents(followed.world.replica, followed.world.replica_files)


def assert_forgotten(followed: Followed) -> None:
    """Assert that the replica is an ordinary database, and nothing of the policy is left anywhere."""
    world = followed.world
    replica = world.replica
    objects = [replica.database("sales"), *replica.tables("sales", replica.table_names("sales"))]
    for table in replica.tables("sales", replica.table_names("sales")):
        objects += replica.partitions(table.name, replica.partition_names(table.name))
    marks = {key for one in objects for key in one.parameters.keys() - without_marks(one.parameters).keys()}
    assert marks - {"repl.target.last.id"} == set()
    assert "repl.source.for" not in world.source.database("sales").parameters
    for files, directory in (
        (world.source_files, followed.policy.dumps),
        (world.replica_files, followed.policy.staging),
    ):
        assert [path for path in files.paths() if path.startswith(directory)] == []


def test_a_forgotten_replica_is_an_ordinary_database_with_all_its_data(followed: Followed) -> None:
    followed.users.insert("orders", ("a b",), [b"more"])
    followed.follow()
    before = everything(followed)
    Pause(followed.policy, "why", HOLDER).run(followed.world.ports())
    lines = Forget(followed.policy, HOLDER).run(followed.world.ports())
    assert any("marks of 5 tables and 3 partitions" in line for line in lines), lines
    assert everything(followed) == before
    assert_forgotten(followed)


def test_what_no_table_uses_goes_before_the_marks_that_say_whose_it_is(followed: Followed) -> None:
    files = followed.world.replica_files
    files.keeps_trash = True
    followed.users.overwrite("orders", ("a b",), {"f1": b"other"})
    followed.users.overwrite("plain", None, [b"other"])
    followed.users.drop_table("empty")
    followed.follow()
    before = everything(followed)
    plan = Forget(followed.policy, HOLDER).plan(followed.world.ports())
    unused = [line.partition(": ")[2].partition(",")[0] for line in plan if "which no table uses any more" in line]
    assert len(unused) == 3 and all(map(files.status, unused))
    lines = Forget(followed.policy, HOLDER).run(followed.world.ports())
    assert [line.rpartition(": ")[2] for line in lines if "no table uses it any more" in line] == unused
    assert not any(map(files.status, unused)) and everything(followed) == before
    used = [table.location for table in followed.world.replica.tables("sales", ["orders", "plain"])]
    ((_, left),) = files.list_directories(["hdfs://west/warehouse/managed/sales.db"])
    assert {child.path for child in left or ()} >= set(used) and len(left or ()) == 3


def test_what_is_unused_and_bears_no_mark_of_ours_is_left(followed: Followed) -> None:
    root = "hdfs://west/warehouse/managed/sales.db"
    followed.world.replica_files.put(f"{root}/theirs.5/f", b"theirs")
    Forget(followed.policy, HOLDER).run(followed.world.ports())
    assert followed.world.replica_files.read(f"{root}/theirs.5/f") == b"theirs"


def test_dumps_and_staging_go_to_the_trash_and_files_of_others_beside_them_stay(followed: Followed) -> None:
    files = followed.world.source_files
    files.keeps_trash = True
    # Without its mark, with a table that somebody keeps beside the dumps.
    files.set_attributes(followed.policy.dumps, Attributes(extended={}))
    files.put(f"{followed.policy.dumps}/orders/part-0", b"rows")
    plan = Forget(followed.policy, HOLDER).plan(followed.world.ports())
    assert any(line.startswith(f"would stay: {followed.policy.dumps}") for line in plan), plan
    lines = Forget(followed.policy, HOLDER).run(followed.world.ports())
    assert any(line.startswith(f"left in place: {followed.policy.dumps}") for line in lines), lines
    assert files.read(f"{followed.policy.dumps}/orders/part-0") == b"rows"
    assert followed.world.replica_files.status(followed.policy.staging) is None


def test_forgetting_twice_finds_nothing_left(followed: Followed) -> None:
    Forget(followed.policy, HOLDER).run(followed.world.ports())
    lines = Forget(followed.policy, HOLDER).run(followed.world.ports())
    assert "nothing is left" in lines[0]
    assert_forgotten(followed)


def test_after_forgetting_a_bootstrap_refuses_the_database_and_makes_a_new_one_without_it(followed: Followed) -> None:
    Forget(followed.policy, HOLDER).run(followed.world.ports())
    new = replace(followed.policy, name="fresh")
    with pytest.raises(Foreign, match="does not belong to policy fresh"):
        run_bootstrap(new, followed.world.ports(), HOLDER, followed.log.append)
    for table in followed.world.replica.table_names("sales"):
        followed.world.replica.drop_table(TableName("sales", table), delete_data=True)
    followed.world.replica.drop_database("sales")
    run_bootstrap(new, followed.world.ports(), HOLDER, followed.log.append)
    followed.assert_twin()


def test_a_database_of_somebody_else_is_not_forgotten(followed: Followed) -> None:
    other = replace(followed.policy, name="other")
    before = parameters(followed)
    for act in (Forget(other, HOLDER).plan, Forget(other, HOLDER).run):
        with pytest.raises(Foreign, match="nothing of it is forgotten"):
            act(followed.world.ports())
    assert parameters(followed) == before
    assert followed.world.ports().lease.holder(f"{other.staging}/lease") is None


def test_without_a_replica_dumps_and_marks_of_the_source_are_removed(followed: Followed) -> None:
    followed.world.replica.drop_database("sales")
    lines = Forget(followed.policy, HOLDER).run(followed.world.ports())
    assert "no replica database" in lines[0]
    assert [path for path in followed.world.source_files.paths() if path.startswith(followed.policy.dumps)] == []
    assert "repl.source.for" not in followed.world.source.database("sales").parameters


def test_a_source_that_is_gone_does_not_keep_the_replica_for_ever(followed: Followed) -> None:
    followed.world.source.down = True
    lines = Forget(followed.policy, HOLDER).run(followed.world.ports())
    assert any(line.startswith("not removed: the mark") and "twinhive retire sales" in line for line in lines), lines
    assert not [key for key in parameters(followed) if key.startswith("twinhive.")]
    assert followed.world.replica_files.status(followed.policy.staging) is None
    followed.world.source.down = False
    Forget(followed.policy, HOLDER).run(followed.world.ports())
    assert_forgotten(followed)


def test_the_mark_of_another_replication_that_starts_here_stays(followed: Followed) -> None:
    followed.world.replica.set_database_parameters("sales", {**parameters(followed), "repl.source.for": "onward"})
    Forget(followed.policy, HOLDER).run(followed.world.ports())
    assert parameters(followed)["repl.source.for"] == "onward"
    assert spoken(parameters(followed)) == spoken(followed.world.source.database("sales").parameters)


# --- all of them


def operations(followed: Followed, event_id: int) -> dict[str, Operation]:
    fields = {
        "resync": OperationFields(table="plain"),
        "skip-event": OperationFields(event_id=event_id, reason="why"),
        "pause": OperationFields(reason="why"),
        "failover-unplanned": OperationFields(event_id=event_id, reason="why"),
    }
    # Of a failback the source has taken over: tests/unit/operations/failover/test_failback.py.
    names = KINDS.keys() - {"failback"}
    return {name: operation_of(name, followed.policy, HOLDER, fields.get(name, OperationFields())) for name in names}


def test_a_plan_changes_nothing_and_says_something(followed: Followed) -> None:
    event_id = insert_and_lose(followed)
    switch = KillSwitch(10**9, after_effect=False)
    ports = killable(followed.world.ports(), switch)
    for name, operation in operations(followed, event_id).items():
        assert operation.plan(ports), name
        assert switch.count == 0, name


@pytest.mark.parametrize(
    ("name", "fields", "said"),
    [
        ("resync", OperationFields(), "table: cannot be used for the operation resync"),
        ("skip-event", OperationFields(event_id=4), "reason: cannot be used"),
        ("skip-event", OperationFields(reason="x"), "event_id: cannot be used"),
        ("forget", OperationFields(table="orders"), "table: cannot be used for the operation forget"),
        ("pause", OperationFields(reason=""), "reason: cannot be used"),
        ("destroy", OperationFields(), "operation: unknown"),
    ],
)
def test_a_form_that_is_wrong_names_the_field(
    followed: Followed, name: str, fields: OperationFields, said: str
) -> None:
    with pytest.raises(InvalidSettings, match=said):
        operation_of(name, followed.policy, HOLDER, fields)


def test_a_replica_that_does_not_follow_is_told_what_to_start(followed: Followed) -> None:
    replica = followed.world.replica
    replica.set_database_parameters("sales", {**parameters(followed), "twinhive.phase": "loading"})
    for operation in (Resync(followed.policy, "plain", HOLDER), SkipEvent(followed.policy, 1, "why", HOLDER)):
        with pytest.raises(ActNow, match=r"start the DAG sales\.bootstrap"):
            operation.run(followed.world.ports())


def test_the_status_tells_where_it_is_and_what_is_wrong() -> None:
    followed = followed_by(on_object_error="quarantine")
    insert_and_lose(followed)
    followed.follow()
    followed.users.insert("orders", ("a b",), [b"more"])
    followed.world.source.emit("OPEN_TXN", None, None, {})
    resync(followed, "empty")
    Pause(followed.policy, "upgrade", HOLDER).run(followed.world.ports())
    rows = dict(read_status(followed.world.ports(), followed.policy).rows())
    assert rows["phase"] == "following"
    assert rows["position"].startswith(f"event {parameters(followed)['repl.last.id']} of ")
    assert rows["newest event of the source"].startswith(f"event {followed.world.source.current_event_id()}")
    assert rows["events behind"] == "3, 2 in scope"
    assert rows["paused"] == "upgrade"
    assert rows["lease"] == "nobody holds it"
    assert "lost" in rows["quarantined: plain"]
    assert "waits for resync: empty" in rows


def test_the_status_of_no_replica_and_of_a_log_with_a_gap(followed: Followed) -> None:
    position = int(parameters(followed)["repl.last.id"])
    followed.users.insert("plain", None, [b"x"])
    followed.world.source.expire_events(position + 1)
    assert "gap" in dict(read_status(followed.world.ports(), followed.policy).rows())["events behind"]
    followed.world.replica.drop_database("sales")
    rows = dict(read_status(followed.world.ports(), followed.policy).rows())
    assert (rows["phase"], rows["events behind"]) == ("absent", "")


# --- killed


def killed_at_any_change(
    begin: Callable[[], Followed], act: Callable, then: Callable[[Followed], None], *, least: int
) -> None:
    """Do `then` to what a kill at a change of `act` leaves."""

    def noticed(followed: Followed, switch: Any) -> None:
        act(followed, killable(followed.world.ports(), switch))

    for left in left_by_kills(begin, noticed, least=least):
        then(left)


def test_forgetting_killed_at_any_change_goes_on(followed: Followed) -> None:
    before = everything(followed)

    def forget(killed: Followed, ports) -> None:
        Forget(killed.policy, HOLDER).run(ports)

    def then(killed: Followed) -> None:
        Forget(killed.policy, HOLDER).run(killed.world.ports())
        assert_forgotten(killed)
        assert everything(killed) == before

    killed_at_any_change(Followed, forget, then, least=8)


def test_a_run_between_a_killed_forgetting_and_its_end_changes_nothing() -> None:
    def forget(killed: Followed, ports) -> None:
        Forget(killed.policy, HOLDER).run(ports)

    def then(killed: Followed) -> None:
        killed.users.insert("plain", None, [b"more"])
        before = everything(killed)
        begun = forgetting_has_begun(killed.world.replica_files, killed.policy)
        killed.world.lease.known_dead.add(f"{killed.policy.staging}/lease")
        with suppress(Foreign):  # the database is an ordinary one already
            killed.follow()
        assert (everything(killed) == before) == (begun or "twinhive.policy" not in parameters(killed))
        Forget(killed.policy, HOLDER).run(killed.world.ports())
        assert_forgotten(killed)

    killed_at_any_change(Followed, forget, then, least=8)


@pytest.mark.parametrize("idle", [True, False], ids=["without an event", "with events"])
def test_a_resync_killed_at_any_change_comes_to_equality(idle: bool) -> None:
    def begin() -> Followed:
        followed = followed_by(on_object_error="quarantine")
        insert_and_lose(followed)
        followed.follow()
        for table in ("plain", "orders", "recent"):
            resync(followed, table)
        if not idle:
            followed.users.insert("orders", ("a b",), [b"more"])
            followed.users.insert("plain", None, [b"more"])
            followed.users.rename_table("recent", "recently")
        return followed

    def follow(killed: Followed, ports) -> None:
        run_phase(INCREMENTAL, killed.policy, ports, {"run": "k"}, killed.log.append)

    def then(killed: Followed) -> None:
        follow_to_the_end(killed)
        killed.assert_twin()

    killed_at_any_change(begin, follow, then, least=12 if idle else 30)


@pytest.fixture
def followed() -> Followed:
    return Followed()


def test_what_the_policy_does_not_select_any_more_is_not_brought_over_though_somebody_asked_for_it() -> None:
    followed = Followed()
    before = followed.world.replica.table(PLAIN)
    resync(followed, "plain")
    selecting, followed.policy = followed.policy, replace(followed.policy, exclude=("plain",), fingerprint="f2")
    followed.users.insert("plain", None, [b"new"])
    followed.users.insert("orders", ("a b",), [b"new"])
    followed.follow()
    assert followed.follow()["window"].idle
    assert followed.world.replica.table(PLAIN) == before
    assert policies_with_requests(followed.world.replica_files, [followed.policy]) == frozenset()
    followed.policy = selecting
    assert policies_with_requests(followed.world.replica_files, [followed.policy]) == {"sales"}
    followed.follow()
    followed.follow()
    followed.assert_twin()
