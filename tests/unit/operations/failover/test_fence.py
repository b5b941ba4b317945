"""Writers are kept away while a replica takes over: rung by rung, killed anywhere, taken away again."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.fake_world import SOURCE_ADDRESS, Killed, killable
from tests.support.worlds.memory_comparison import contents
from tests.unit.operations.failover.test_failover import HOLDER, parameters, promotion, ready
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import ActNow, Foreign, Promoted, Refused
from twinhive.core.model.failover.fence import COMMAND, FENCED, FULL, QUOTA, FenceMark, FenceNote, FenceRules
from twinhive.core.model.files import Attributes
from twinhive.core.model.marks import PHASE
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import render
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.fence.fence_removal import AbortFailover
from twinhive.operations.failover.fence.note import note_of
from twinhive.operations.failover.forget import Forget
from twinhive.operations.failover.readiness import readiness
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_phase

HOME = "hdfs://east/warehouse/managed/sales.db"


class Hook:
    """Stand for the operator's command; `shut` is what it has done to the writers."""

    def __init__(self) -> None:
        self.shut = False

    def __call__(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        assert environment["TWINHIVE_DATABASE"] == "sales"
        self.shut = list(words) == ["shut"]


class Fenced(Followed):
    """A replica that follows, whose policy keeps writers away."""

    def __init__(self, *rungs: str) -> None:
        super().__init__()
        ready(self)
        self.hook = Hook()
        rules = FenceRules(rungs, ("shut",), ("true",)) if COMMAND in rungs else FenceRules(rungs)
        self.policy: Policy = replace(self.policy, fence=rules)
        self.world.source.configurations[SOURCE_ADDRESS]["metastore.warehouse.dir"] = "hdfs://east/warehouse/managed"
        self.world.source_files.set_name_quota(HOME, 5_000)

    def failover(self, ports: Any = None) -> Failover:
        """Return a planned failover, which follows to the end behind its fence."""

        def follow(token: str) -> None:
            while not run_phase(INCREMENTAL, self.policy, self.world.ports(), {"run": "i"}, self.say)["window"].idle:
                pass

        return Failover(self.policy, HOLDER, wait=lambda seconds: None, catch_up=follow, run_command=self.hook)

    def abort(self) -> AbortFailover:
        return AbortFailover(self.policy, HOLDER, run_command=self.hook)

    @property
    def mark(self) -> FenceMark | None:
        database = self.world.source.database("sales")
        assert database is not None
        return FenceMark.read(database.parameters)

    @property
    def quota(self) -> int | None:
        return self.world.source_files.name_quota(HOME)

    def assert_open(self) -> None:
        """Prove that users write as if nothing had been."""
        assert (self.mark, self.quota, self.hook.shut) == (None, 5_000, False)
        for name in ("fence", "failover"):
            assert self.world.replica_files.status(f"{self.policy.staging}/control/{name}.json") is None
        self.users.insert("plain", None, [b"later"])
        self.follow()
        world = self.world
        assert contents(world.replica, world.replica_files) == contents(world.source, world.source_files)

    def shut_by_hand(self) -> None:
        """Set all quotas that the note tells of, as a person may who sees that they are gone."""
        assert self.mark is not None
        for directory in note_of(self.world.replica_files, self.mark).names:
            self.world.source_files.set_name_quota(directory, FULL)

    def assert_shut(self) -> None:
        assert self.mark is not None and self.quota == 1
        assert self.hook.shut == (COMMAND in self.policy.fence.rungs)


@contextmanager
def killed_once_open(fenced: Fenced) -> Iterator[None]:
    """Let whoever lifts the fence be killed right after it has let files into the database's directory."""
    files = fenced.world.source_files
    put_back = files.set_name_quota

    def then_killed(path: str, names: int | None) -> None:
        put_back(path, names)
        if path == HOME:
            raise Killed

    files.set_name_quota = then_killed
    try:
        yield
    finally:
        del files.set_name_quota
        assert fenced.quota == 5_000 and fenced.mark is not None


@pytest.fixture
def fenced() -> Fenced:
    return Fenced(QUOTA, COMMAND)


def test_writers_have_no_room_any_more_and_the_replica_takes_over(fenced: Fenced) -> None:
    fenced.users.insert("plain", None, [b"just before"])
    lines = fenced.failover().run(fenced.world.ports())
    assert any(f"no new file gets into {HOME}" in line for line in lines)
    fenced.assert_shut()
    marked = 1  # the event of the mark that says who has taken over
    assert promotion(fenced).position.event_id == fenced.world.source.current_event_id() - marked
    with pytest.raises(Refused, match="quota"):
        fenced.users.insert("plain", None, [b"too late"])


def test_a_dry_run_shows_each_rung_and_sets_none(fenced: Fenced) -> None:
    told = "\n".join(fenced.failover().plan(fenced.world.ports()))
    assert f"would let no new file into {HOME}" in told and "would run: shut" in told and "--abort" in told
    assert fenced.mark is None and not fenced.hook.shut
    fenced.assert_open()


@pytest.mark.parametrize("rungs", [(QUOTA,), (COMMAND,), (COMMAND, QUOTA)])
def test_killed_at_any_change_it_is_aborted_or_goes_on(rungs: tuple[str, ...]) -> None:
    def act(fenced: Fenced, switch: Any) -> None:
        fenced.failover().run(killable(fenced.world.ports(), switch))

    for left in left_by_kills(lambda: Fenced(*rungs), act):
        if parameters(left)[PHASE] == "promoted":
            with pytest.raises(Promoted, match="cannot be aborted"):
                left.abort().run(left.world.ports())
            continue
        left.abort().run(left.world.ports())
        left.assert_open()
    for left in left_by_kills(lambda: Fenced(*rungs), act):
        left.failover().run(left.world.ports())
        left.assert_shut() if QUOTA in rungs else None
        assert parameters(left)[PHASE] == "promoted"


def test_an_abort_that_is_killed_is_run_again_to_the_same_end(fenced: Fenced) -> None:
    def begin() -> Fenced:
        begun = Fenced(QUOTA, COMMAND)
        begun.failover().fence(begun.world.ports())
        return begun

    def act(one: Fenced, switch: Any) -> None:
        one.abort().run(killable(one.world.ports(), switch))

    for left in left_by_kills(begin, act):
        left.abort().run(left.world.ports())
        left.assert_open()
        assert left.abort().run(left.world.ports()) == left.abort().plan(left.world.ports())


def test_a_writer_that_ignores_the_fence_is_found_and_nothing_is_promoted(fenced: Fenced) -> None:
    def ignore(_: float) -> None:
        table = fenced.world.source.table(fenced.users.name("plain"))
        fenced.world.source.alter_table(table.name, table.with_parameters({**table.parameters, "by": "alter"}))

    operation = replace(fenced.failover(), wait=ignore)
    with pytest.raises(ActNow, match=r"(?s)still written behind its fence.*ALTER_TABLE.*failover sales --abort"):
        operation.run(fenced.world.ports())
    assert parameters(fenced)[PHASE] == "following"
    fenced.abort().run(fenced.world.ports())
    fenced.follow()
    fenced.assert_open()


def test_a_file_that_was_open_before_the_fence_is_waited_for(fenced: Fenced) -> None:
    fenced.world.source_files.opened.add(f"{HOME}/plain/_part")
    with pytest.raises(ActNow, match=r"(?s)open for writing.*plain/_part"):
        fenced.failover().run(fenced.world.ports())
    fenced.world.source_files.opened.clear()
    fenced.failover().run(fenced.world.ports())


def test_a_fence_that_somebody_opened_is_noticed(fenced: Fenced) -> None:
    operation = fenced.failover()
    operation.fence(fenced.world.ports())
    fenced.world.source_files.set_name_quota(HOME, None)
    operation.catch_up("")
    with pytest.raises(ActNow, match="somebody has opened the fence"):
        operation.prove_quiet(fenced.world.ports())
    fenced.world.source_files.set_name_quota(HOME, 1)
    fenced.abort().run(fenced.world.ports())
    with pytest.raises(ActNow, match="is not fenced as its policy says"):
        operation.prove_quiet(fenced.world.ports())


def test_a_failover_that_was_aborted_and_begun_again_meanwhile_proves_all_anew(fenced: Fenced) -> None:
    operation, ports = fenced.failover(), fenced.world.ports()
    operation.fence(ports)
    operation.catch_up("")
    quiet = operation.prove_quiet(ports)
    _, compared = operation.prove_equal(ports, quiet)
    fenced.abort().run(ports)
    with pytest.raises(ActNow, match="not fenced"):
        operation.promote(ports, quiet, compared)
    operation.fence(ports)
    with pytest.raises(ActNow, match=r"(?s)was begun anew.*clear the task prove_quiet with all tasks after it"):
        operation.promote(ports, quiet, compared)


def test_a_table_that_came_after_the_fence_is_a_hole(fenced: Fenced) -> None:
    operation, ports = fenced.failover(), fenced.world.ports()
    operation.fence(ports)
    table = fenced.world.source.table(fenced.users.name("plain"))
    fenced.world.source_files.put("hdfs://east/elsewhere/t/f", b"f")
    located = replace(table, location="hdfs://east/elsewhere/t")
    fenced.world.source.alter_table(table.name, located)
    with pytest.raises(ActNow, match=r"(?s)not fenced as its policy says.*hdfs://east/elsewhere/t"):
        operation.prove_quiet(ports)


def test_the_fence_of_another_policy_is_left_alone(fenced: Fenced) -> None:
    fenced.failover().fence(fenced.world.ports())
    other = replace(fenced.policy, name="other")
    with pytest.raises(Foreign, match="fenced by another failover"):
        replace(fenced.failover(), policy=replace(other, name="other"))._fence.run(fenced.world.ports())


def test_a_quota_that_would_keep_others_out_is_refused(fenced: Fenced) -> None:
    database = fenced.world.source.database("sales")
    inner = replace(database, name="inner", managed_location=f"{HOME}/inner", location=None, parameters={})
    fenced.world.source.create_database(inner)
    with pytest.raises(Refused, match="others would be kept out"):
        fenced.failover().run(fenced.world.ports())
    assert fenced.quota == 5_000


def test_only_directories_of_its_tables_are_fenced_where_a_policy_selects_some(fenced: Fenced) -> None:
    fenced.policy = replace(fenced.policy, include=("plain",))
    told = fenced.failover()._fence.plan(fenced.world.ports())
    assert [line for line in told if "no new file" in line] == [
        f"would let no new file into {HOME}/plain (quota of names 1)"
    ]


def test_a_note_that_is_gone_is_said_and_nobody_guesses(fenced: Fenced) -> None:
    fenced.failover().fence(fenced.world.ports())
    fenced.world.replica_files.delete_file(f"{fenced.policy.staging}/control/fence.json")
    with pytest.raises(ActNow, match="nobody knows any more what was there"):
        fenced.abort().run(fenced.world.ports())


def test_a_table_that_lost_its_directory_behind_the_fence_is_named(fenced: Fenced) -> None:
    fenced.failover().fence(fenced.world.ports())
    fenced.world.source_files.delete(f"{HOME}/plain")
    assert any("TRUNCATE" in line and "plain" in line for line in fenced.abort().run(fenced.world.ports()))


class Kept(Fenced):
    """A fence whose directory can have snapshots, behind which files were deleted as a TRUNCATE does."""

    def __init__(self) -> None:
        super().__init__(QUOTA, COMMAND)
        self.world.source_files.allow_snapshots(HOME)

    def truncated(self, *directories: str) -> "Kept":
        self.failover().fence(self.world.ports())
        for one in directories:
            self.world.source_files.delete(f"{HOME}/{one}")
        return self

    @property
    def snapshots(self) -> list[str] | None:
        return self.world.source_files.snapshots(HOME)

    def before(self) -> Any:
        return contents(self.world.source, self.world.source_files)


def test_what_a_truncate_behind_the_fence_deletes_is_brought_back() -> None:
    kept = Kept()
    before = kept.before()
    kept.truncated("plain", "orders/p=a b", "empty")
    assert kept.before() != before and kept.snapshots == [f"twinhive_fence_{kept.mark.token}"]
    told = "\n".join(kept.abort().plan(kept.world.ports()))
    assert "would bring back what was deleted behind the fence of: empty, orders, plain" in told
    lines = "\n".join(kept.abort().run(kept.world.ports()))
    assert "brought back: 3 files of plain" in lines and "brought back: 2 files of orders" in lines
    assert kept.before() == before and kept.snapshots == []
    assert kept.world.source_files.status(f"{HOME}/empty").is_directory
    kept.assert_open()


def test_what_is_brought_back_is_whose_it_was() -> None:
    kept = Kept()
    files = kept.world.source_files
    files.set_attributes(f"{HOME}/plain", Attributes("ann", "sales", 0o770, extended={"user.a": b"1"}))
    files.set_attributes(f"{HOME}/plain/data", Attributes("ann", "sales", 0o640, modified_ms=1_234_000))

    def look(name: str) -> Any:
        there = files.status(f"{HOME}/{name}")
        return replace(there, file_id=0, accessed_ms=0), files.extended_attributes(there.path)

    before = look("plain"), look("plain/data")
    kept.truncated("plain").abort().run(kept.world.ports())
    assert (look("plain"), look("plain/data")) == before


def test_a_single_file_that_is_gone_is_brought_back_and_another_stays_as_it_is() -> None:
    kept = Kept().truncated("plain/data", "plain/_SUCCESS")
    ids = kept.world.source_files.status(f"{HOME}/plain/zero").file_id
    lines = kept.abort().run(kept.world.ports())
    assert any("brought back: 1 files of plain" in line for line in lines)
    assert kept.world.source_files.read(f"{HOME}/plain/data") == b"plain"
    assert kept.world.source_files.status(f"{HOME}/plain/_SUCCESS") is None
    assert kept.world.source_files.status(f"{HOME}/plain/zero").file_id == ids


def test_an_abort_that_is_killed_while_it_brings_back_is_run_again_to_the_same_end() -> None:
    before = Kept().before()

    def act(one: Kept, switch: Any) -> None:
        one.abort().run(killable(one.world.ports(), switch))

    for left in left_by_kills(lambda: Kept().truncated("plain", "orders/p=a b"), act, least=12):
        left.abort().run(left.world.ports())
        assert left.before() == before and left.snapshots == []
        beside = [path for path in left.world.source_files._tree.nodes if "twinhive_fence" in path]
        assert beside == []
        left.assert_open()


def test_files_of_a_table_that_the_log_names_since_stay_in_the_snapshot() -> None:
    kept = Kept().truncated("plain")
    table = kept.world.source.table(kept.users.name("plain"))
    kept.world.source.alter_table(table.name, table.with_parameters({**table.parameters, "by": "alter"}))
    told = "\n".join(kept.abort().plan(kept.world.ports()))
    assert "would not be brought back: plain: the log names it since" in told and "would bring back" not in told
    lines = "\n".join(kept.abort().run(kept.world.ports()))
    assert "not brought back: plain: the log names it since" in lines and "hdfs dfs -deleteSnapshot" in lines
    (name,) = kept.snapshots
    assert kept.world.source_files.read(f"{HOME}/.snapshot/{name}/plain/data") == b"plain"
    assert (kept.mark, kept.quota, kept.hook.shut) == (None, 5_000, False)


def test_files_stay_in_the_snapshot_where_the_log_does_not_tell_all_since() -> None:
    kept = Kept().truncated("plain")
    log = kept.world.source._log
    kept.users.insert("orders", ("a b",), {})
    log.expire(log.last_event_id)
    why = "plain: the log does not tell all since"
    assert f"would not be brought back: {why}" in "\n".join(kept.abort().plan(kept.world.ports()))
    assert f"not brought back: {why}" in "\n".join(kept.abort().run(kept.world.ports())) and kept.snapshots


def test_a_directory_with_other_files_since_is_not_mixed() -> None:
    kept = Kept().truncated("plain")
    kept.world.source_files.set_name_quota(HOME, None)
    kept.world.source_files.put(f"{HOME}/plain/other", b"written by somebody who got in")
    lines = "\n".join(kept.abort().run(kept.world.ports()))
    assert "not brought back: plain" in lines and "holds other files since" in lines
    assert kept.world.source_files.status(f"{HOME}/plain/data") is None and kept.snapshots


def test_a_partition_that_was_dropped_behind_the_fence_stays_dropped() -> None:
    kept = Kept().truncated()
    kept.world.source.drop_partitions(kept.users.name("orders"), ["p=a b"], delete_data=True)
    assert not any("bring back" in line for line in kept.abort().plan(kept.world.ports()))
    assert not any("brought back" in line for line in kept.abort().run(kept.world.ports()))
    assert kept.world.source_files.status(f"{HOME}/orders/p=a b") is None and kept.snapshots == []


def test_a_quota_without_room_for_it_lets_the_writers_in_all_the_same() -> None:
    kept = Kept()
    kept.world.source_files.set_name_quota(HOME, 2)
    kept.truncated("orders/p=a b")
    lines = "\n".join(kept.abort().run(kept.world.ports()))
    assert "not brought back: orders" in lines and kept.snapshots and kept.mark is None and not kept.hook.shut


def test_snapshots_go_when_the_replica_has_taken_over() -> None:
    def act(one: Kept, switch: Any) -> None:
        one.failover().run(killable(one.world.ports(), switch))

    for left in left_by_kills(Kept, act):
        left.failover().run(left.world.ports())
        assert parameters(left)[PHASE] == "promoted" and left.snapshots == []


def test_without_snapshots_the_failover_says_so_and_goes_on(fenced: Fenced) -> None:
    told = [render(line) for line in readiness(fenced.world.ports(), fenced.policy).told]
    assert any(f"hdfs dfsadmin -allowSnapshot {HOME}" in line for line in told)
    lines = fenced.failover().run(fenced.world.ports())
    assert any(f"-allowSnapshot {HOME}" in line for line in lines)
    assert parameters(fenced)[PHASE] == "promoted"


def test_a_source_that_dies_right_after_the_switch_keeps_its_snapshots_and_the_replica_is_open() -> None:
    kept, ports = Kept(), None
    operation = kept.failover()
    operation.fence(kept.world.ports())
    operation.catch_up("")
    ports = kept.world.ports()
    quiet = operation.prove_quiet(ports)
    _, compared = operation.prove_equal(ports, quiet)
    set_parameters = kept.world.replica.set_database_parameters

    def then_it_dies(*args: Any) -> None:
        set_parameters(*args)
        kept.world.source_files.down = True

    kept.world.replica.set_database_parameters = then_it_dies
    lines = operation.promote(ports, quiet, compared)
    assert any("may stay until failback" in line for line in lines)
    kept.world.source_files.down = False
    del kept.world.replica.set_database_parameters
    operation.run(ports)
    assert kept.snapshots == []


def test_a_note_of_before_there_were_snapshots_is_read() -> None:
    note = FenceNote("t", FenceRules((QUOTA,)), {HOME: None})
    said = {key: value for key, value in json.loads(note.written()).items() if key not in ("snapshots", "log_end")}
    assert FenceNote.read(json.dumps(said).encode(), "n") == note
    full = replace(note, snapshots={HOME: note.snapshot}, log_end=Position(7, 8, "d"))
    assert FenceNote.read(full.written(), "n") == full


def test_forgetting_lets_the_writers_in_again(fenced: Fenced) -> None:
    fenced.failover().fence(fenced.world.ports())
    fenced.hook.shut = False
    lines = Forget(replace(fenced.policy, fence=FenceRules()), HOLDER).run(fenced.world.ports())
    assert fenced.mark is None and fenced.quota == 5_000
    assert any("its writers may write" in line for line in lines)


def test_without_rungs_nothing_is_fenced() -> None:
    fenced = Fenced()
    assert "people keep writers away" in "\n".join(fenced.failover().plan(fenced.world.ports()))
    fenced.failover().run(fenced.world.ports())
    assert FENCED not in fenced.world.source.database("sales").parameters and fenced.quota == 5_000
