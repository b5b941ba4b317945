"""A source that goes on changing while it is copied ends in a twin of one event."""

from dataclasses import replace
from typing import Any

import pytest

from tests.support.builders import a_table
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World, a_world, tuned
from tests.support.worlds.memory_comparison import assert_twin
from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.runtime.pipeline.phases import BOOTSTRAP, CONSOLIDATE, INCREMENTAL
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase, run_rounds

POLICY = tuned(batch_objects=2, partitions_per_call=2)


class Copying:
    """A world that is being copied, and its users."""

    def __init__(self, policy: Policy = POLICY) -> None:
        self.policy = policy
        self.world: World = a_world()
        self.users = SourceWriter(self.world.source, self.world.source_files, "sales")
        self.log: list[str] = []

    def run(self, stages, **earlier: Any) -> dict[str, Any]:
        return run_phase(stages, self.policy, self.world.ports(), {"run": "r"}, self.log.append, earlier)

    def finish(self) -> None:
        run_rounds(self.policy, self.world.ports(), {"run": "r"}, self.log.append)


@pytest.fixture
def copying() -> Copying:
    return Copying()


def change_everything(users: SourceWriter, name: str) -> None:
    users.create_table(f"made_{name}", files=[b"new"])
    users.insert("plain", None, [b"more " + name.encode()])
    users.add_partitions("orders", {(name,): [b"added"]})
    users.overwrite("orders", ("a b",), [b"over " + name.encode()])
    users.add_columns("orders", [(f"c_{name}", "string")], cascade=name == "one")
    users.create_table("passing", files=[b"soon gone"])
    users.drop_table("passing")


def test_changes_between_all_tasks_are_folded_in(copying: Copying) -> None:
    users = copying.users
    results: dict[str, Any] = {}
    for number, stage in enumerate(BOOTSTRAP):
        results = copying.run((stage,), **results)
        change_everything(users, ["one", "two", "three", "four"][number])
    users.drop_partitions("orders", [("one",)])
    users.rename_table("made_one", "renamed")
    users.drop_table("empty")
    copying.finish()
    assert_twin(copying.world)
    state = copying.world.replica.database("sales").parameters
    assert int(state["repl.last.id"]) == copying.world.source.current_event_id()


def test_changes_between_the_tasks_of_a_round_are_left_to_the_incremental(copying: Copying) -> None:
    copying.run(BOOTSTRAP)
    results: dict[str, Any] = {}
    for number, stage in enumerate(CONSOLIDATE):
        results = copying.run((stage,), **results)
        change_everything(copying.users, ["one", "two", "three", "four"][number])
    while not copying.run(INCREMENTAL)["window"].idle:
        pass
    assert_twin(copying.world)


def test_a_bootstrap_outlives_the_retention_of_the_log(copying: Copying) -> None:
    copying.run(BOOTSTRAP)
    for name in ("one", "two"):
        change_everything(copying.users, name)
        assert copying.run(INCREMENTAL)["window"].idle
        copying.world.source.expire_events(copying.world.source.current_event_id() - 1)
    change_everything(copying.users, "three")
    copying.finish()
    assert_twin(copying.world)


def test_an_incremental_run_before_any_bootstrap_says_what_to_start(copying: Copying) -> None:
    assert copying.run(INCREMENTAL)["window"].idle
    assert any("start the DAG sales.bootstrap" in line for line in copying.log)


def test_a_table_that_becomes_managed_meanwhile_is_read(copying: Copying) -> None:
    copying.run(BOOTSTRAP)
    outside = copying.world.source.table(TableName("sales", "outside"))
    copying.world.source_files.put(f"{outside.location}/f", b"rows")
    managed = replace(outside, table_type="MANAGED_TABLE", parameters={})
    copying.world.source.alter_table(outside.name, managed)
    copying.finish()
    assert "outside" in copying.world.replica.table_names("sales")
    assert_twin(copying.world)


def test_much_that_is_left_over_asks_for_another_round() -> None:
    copying = Copying(tuned(rest_events=1, most_rounds=3))
    copying.run(BOOTSTRAP)
    first = copying.run(CONSOLIDATE[:2])
    change_everything(copying.users, "one")
    assert copying.run(CONSOLIDATE[2:3], **first)["gate"].another_round
    copying.finish()
    assert_twin(copying.world)


def test_rounds_that_lead_nowhere_end_with_what_to_do() -> None:
    copying = Copying(tuned(most_rounds=2, spark_above_files=0))
    location = copying.users.location("plain")
    results = copying.run(BOOTSTRAP[:3])

    def copy_while_somebody_rewrites(stage, number: int) -> None:
        copying.world.source_files.put(f"{location}/data", b"no event tells of number %d" % number)
        copying.run((stage,), **results)

    copy_while_somebody_rewrites(BOOTSTRAP[3], 0)
    with pytest.raises(ActNow, match="leads nowhere"):
        for number in range(1, 4):
            results = copying.run(CONSOLIDATE[:1])
            copy_while_somebody_rewrites(CONSOLIDATE[1], number)
            assert copying.run(CONSOLIDATE[2:3])["gate"].another_round
    assert copying.world.replica.database("sales") is None


def test_a_consolidate_run_after_the_end_finds_nothing_to_do(copying: Copying) -> None:
    run_bootstrap(copying.policy, copying.world.ports(), {"run": "r"}, copying.log.append)
    events = copying.world.replica.current_event_id()
    copying.finish()
    assert copying.world.replica.current_event_id() == events
    assert any("already applied" in line for line in copying.log)


def test_a_new_table_of_the_same_name_and_other_keys(copying: Copying) -> None:
    copying.run(BOOTSTRAP)
    copying.users.drop_table("orders")
    copying.users.create_table("orders", keys=("year", "month"))
    copying.users.add_partitions("orders", {("2026", "1"): [b"y"]})
    copying.finish()
    assert_twin(copying.world)
    assert a_table("sales.orders").name in [t.name for t in copying.world.replica.tables("sales", ["orders"])]


def test_a_file_of_an_event_that_nobody_has_any_more_is_left_to_the_next_listing(copying: Copying) -> None:
    copying.run(BOOTSTRAP)
    copying.users.insert("plain", None, {"told": b"rows"})
    path = f"{copying.users.location('plain')}/told"
    copying.world.source_files.delete(path)
    copying.world.source_files.put(f"{copying.users.location('plain')}/silent", b"other rows")
    copying.finish()
    assert_twin(copying.world)


def test_again_builds_a_published_replica_anew_also_at_the_same_event(copying: Copying) -> None:
    policy, log = copying.policy, copying.log.append
    run_bootstrap(policy, copying.world.ports(), {"run": "r"}, log)
    copying.users.create_table("newest", files=[b"new"])
    copying.run(INCREMENTAL)
    run_bootstrap(policy, copying.world.ports(), {"run": "r"}, log, again=True)
    assert_twin(copying.world)
