"""Whether a replica holds what somebody waits for, over two clusters in memory."""

from typing import Any

import pytest

from tests.support.builders import a_policy, a_table, an_external
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.fake_world import World, a_world, killable
from tests.support.worlds.memory_comparison import described
from twinhive.core.model.errors import ActNow, Foreign, InvalidSettings, Unreachable
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.replication.incremental.event_reached import (
    Lack,
    Wanted,
    Where,
    missing_of_database,
    table_in_scope,
    what_is_missing,
)
from twinhive.replication.operator_requests.request_files import pause, request_table
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_bootstrap, run_passes, run_phase


class Replicated:
    """A replica that follows, and what can happen to it."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.world: World = a_world()
        self.policy = policy or a_policy(exclude=("recent",))
        self.world.source_files.put("hdfs://east/outside/part-0", b"rows")
        self._run(run_bootstrap)
        self.follow()

    def write(self, table: str = "plain") -> None:
        SourceWriter(self.world.source, self.world.source_files, "sales").insert(table, None, [b"more"])

    def follow(self) -> None:
        run_phase(INCREMENTAL, self.policy, self.world.ports(), {"run": "i"}, lambda line: None)

    def copy(self) -> None:
        self._run(run_passes)

    def _run(self, phase: Any) -> None:
        phase(self.policy, self.world.ports(), {"run": "b"}, lambda line: None)

    @property
    def newest(self) -> int:
        return self.world.source.current_event_id()

    def mark(self, **marks: str) -> None:
        database = self.world.replica.database("sales")
        self.world.replica.set_database_parameters("sales", {**database.parameters, **marks})

    def lacks(self, as_of: int | None = None, table: str | None = None, position: bool = False) -> Lack | None:
        wanted = Wanted(self.newest if as_of is None else as_of, table, position)
        return what_is_missing(self.world.ports(), self.policy, wanted)


@pytest.fixture
def replicated() -> Replicated:
    return Replicated()


def test_an_event_is_missing_until_it_is_applied(replicated: Replicated) -> None:
    assert replicated.lacks() is None
    replicated.write()
    lack = replicated.lacks()
    assert (lack.where, lack.event_id) == (Where.REPLICA, replicated.newest)
    assert f"event {replicated.newest} is to come" in str(lack.why)
    replicated.follow()
    assert replicated.lacks() is None


def test_events_of_others_and_of_tables_outside_the_policy_are_not_waited_for(replicated: Replicated) -> None:
    begin = replicated.newest
    replicated.write()
    replicated.follow()
    replicated.world.source._log.emit("INSERT", "stock", "items", {})
    replicated.world.source._log.emit("INSERT", "sales", "recent", {})
    assert replicated.newest > begin + 1
    assert replicated.lacks() is None
    assert replicated.lacks(position=True) is None


def test_of_one_table_only_its_own_newest_event_counts(replicated: Replicated) -> None:
    replicated.write("plain")
    own = replicated.newest
    replicated.write("empty")
    assert replicated.lacks(table="plain").event_id == own
    assert replicated.lacks(table="empty").event_id == replicated.newest
    assert replicated.lacks(table="orders") is None
    # What came after the sensor was started is nobody's business.
    assert replicated.lacks(own, table="empty") is None


def test_an_event_that_is_still_to_come_is_waited_for_at_the_source(replicated: Replicated) -> None:
    lack = replicated.lacks(replicated.newest + 5, position=True)
    assert (lack.where, lack.event_id) == (Where.SOURCE, replicated.newest + 5)


def test_a_quarantined_table_is_not_there_and_a_person_is_told(replicated: Replicated) -> None:
    replicated.mark(**{"twinhive.quarantine.plain": "12 no room"})
    for table in ("plain", None):
        lack = replicated.lacks(table=table)
        assert lack.where is Where.REPLICA
        assert "plain is quarantined (12 no room)" in str(lack.why) and "twinhive resync sales plain" in str(lack.why)
    assert replicated.lacks(table="orders") is None
    assert replicated.lacks(position=True) is None


def test_an_external_table_is_there_when_its_data_is() -> None:
    replicated = Replicated(a_policy(external=an_external(base_directory="hdfs://west/ext")))
    replicated.world.source.create_table(
        a_table("sales.clicks", table_type="EXTERNAL_TABLE", location="hdfs://east/clicks")
    )
    replicated.world.source_files.put("hdfs://east/clicks/part-0", b"rows")
    replicated.follow()
    for table in ("clicks", None):
        lack = replicated.lacks(table=table)
        assert lack.where is Where.LATER and "clicks waits for its data" in str(lack.why)
    assert replicated.lacks(position=True) is replicated.lacks(table="plain") is None
    replicated.copy()
    replicated.follow()
    assert replicated.lacks(table="clicks") is None


@pytest.mark.parametrize("asked", [True, False], ids=["somebody asks for it", "an event says too little"])
def test_a_table_that_comes_whole_is_there_only_when_it_is_as_the_source_has_it(asked: bool) -> None:
    def begin() -> Replicated:
        replicated = Replicated()
        replicated.write("empty")
        if asked:
            request_table(replicated.world.replica_files, replicated.policy, "plain", "somebody asks")
        else:
            users = SourceWriter(replicated.world.source, replicated.world.source_files, "sales")
            users.set_location("plain", "hdfs://east/elsewhere/plain")
        replicated.write("plain")
        replicated.write("empty")
        return replicated

    def follow(replicated: Replicated, switch: Any) -> None:
        ports = killable(replicated.world.ports(), switch)
        run_phase(INCREMENTAL, replicated.policy, ports, {"run": "i"}, lambda line: None)

    def plain(metastore: Any, files: Any) -> Any:
        table = metastore.table(TableName("sales", "plain"))
        return table and described(metastore, files, table)

    said = []
    for left in left_by_kills(begin, follow):
        world, is_there = left.world, left.lacks(table="plain") is None
        is_equal = plain(world.replica, world.replica_files) == plain(world.source, world.source_files)
        said.append((is_there, is_equal))
        assert is_equal or not is_there
    assert {(False, False), (True, True)} <= set(said)


def test_a_table_that_was_dropped_is_not_waited_for_and_one_that_the_replica_lost_is(replicated: Replicated) -> None:
    name = next(table.name for table in replicated.world.source.tables("sales", ["plain"]))
    replicated.world.replica.drop_table(name, delete_data=True)
    assert replicated.lacks(table="plain").where is Where.LATER
    replicated.world.source.drop_table(name, delete_data=True)
    # The event of the drop is still to be applied.
    assert replicated.lacks(table="plain").where is Where.REPLICA


def test_a_table_that_is_left_out_and_one_outside_of_the_policy_need_a_person(replicated: Replicated) -> None:
    replicated.world.source.create_table(a_table("sales.acid", parameters={"transactional": "true"}))
    replicated.follow()
    with pytest.raises(ActNow, match="acid of policy sales is not replicated"):
        replicated.lacks(table="acid")
    assert table_in_scope(replicated.policy, "Sales.Orders") == table_in_scope(replicated.policy, "orders") == "orders"
    for other in ("recent", "stock.orders"):
        with pytest.raises(InvalidSettings, match=f"does not replicate table {other}"):
            table_in_scope(replicated.policy, other)


def test_a_replica_that_is_being_built_or_paused_is_waited_for(replicated: Replicated) -> None:
    replicated.write()
    pause(replicated.world.replica_files, replicated.policy, "moving house", "ann")
    assert "twinhive pause sales --off" in str(replicated.lacks().why)
    replicated.mark(**{"twinhive.phase": "loading"})
    lack = replicated.lacks()
    assert (lack.where, lack.event_id) == (Where.REPLICA, 0)
    assert "phase loading" in str(lack.why) and "sales.bootstrap" in str(lack.why)
    del replicated.world.replica._databases["sales"]
    assert "phase absent" in str(replicated.lacks().why)


def test_a_forgotten_replica_and_a_log_with_a_gap_need_a_person(replicated: Replicated) -> None:
    replicated.write()
    replicated.write()
    log = replicated.world.source._log
    rows = list(log.rows)
    log.expire(log.last_event_id - 1)
    with pytest.raises(ActNow, match="gap"):
        replicated.lacks()
    log.rows = rows
    replicated.mark(**{"twinhive.policy": "other"})
    with pytest.raises(Foreign):
        replicated.lacks()
    with pytest.raises(Foreign):
        missing_of_database("sales", replicated.world.replica.database("sales").parameters, 0, None, position=True)


def test_a_pause_that_cannot_be_read_does_not_matter(replicated: Replicated) -> None:
    replicated.write()
    replicated.world.replica_files.down = True
    assert replicated.lacks().where is Where.REPLICA
    replicated.world.replica.down = True
    with pytest.raises(Unreachable):
        replicated.lacks()
