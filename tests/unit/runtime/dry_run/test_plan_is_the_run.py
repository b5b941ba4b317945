"""What a dry run of a window says is what the run then does: call by call, object by object."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.checker.faults import Plan
from tests.checker.memory_histories import Drill, Settings
from tests.support.builders import a_policy
from tests.support.seeds import seeds
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.external_followed import FollowedExternals
from tests.support.worlds.fake_world import tuned
from tests.unit.hive.events.test_database_drop import drop_database
from tests.unit.replication.incremental.names.test_renames_across_databases import Staged
from tests.unit.replication.incremental.test_incremental import HISTORIES, Followed
from tests.unit.runtime.dry_run.test_rehearsal import untouchable
from twinhive.core.model.errors import ActNow, TwinhiveError
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.policy import EVERY_EVENT, WINDOW_END, Policy
from twinhive.core.ports import MetastoreReader, MetastoreWriter, WritePorts
from twinhive.core.ports.proved_writes import unproved
from twinhive.runtime.dry_run.phase_plan import PhasePlan
from twinhive.runtime.dry_run.pretended_metastore import Call
from twinhive.runtime.dry_run.pretended_ports import pretended
from twinhive.runtime.dry_run.rehearsal import rehearsed
from twinhive.runtime.dry_run.rehearsing import Rehearsing
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import RunOptions

WRITING = set(dir(MetastoreWriter)) - set(dir(MetastoreReader)) - {"set_database_parameters"}
SEEDS = seeds(int(os.environ.get("TWINHIVE_HISTORIES", "2")), kind=1)


class Recorded:
    """A metastore whose changes are noted as a pretended one notes them; both do them."""

    def __init__(self, replica: Any) -> None:
        self._replica = replica
        self.calls: list[Call] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._replica, name)
        if name not in WRITING:
            return found

        def noted(*given: Any, **named: Any) -> Any:
            keys = self._keys(name, given)
            done = found(*given, **named)
            self.calls += [(name, what) for what in objects(name, given, keys)]
            return done

        return noted

    def _keys(self, name: str, given: tuple[Any, ...]) -> tuple[str, ...]:
        if name in ("add_partitions", "alter_partitions", "rename_partition"):
            one = given[1] if name == "rename_partition" else given[0][0]
            return self._replica.table(one.table).partition_keys
        return ()


def objects(name: str, given: tuple[Any, ...], keys: tuple[str, ...]) -> list[str]:
    match name:
        case "create_table":
            return [str(given[0].name)]
        case "alter_table":
            return [str(given[0]) if given[0] == given[1].name else f"{given[0]} to {given[1].name}"]
        case "add_partitions" | "alter_partitions":
            return [f"{one.table} {one.name(keys)}" for one in given[0]]
        case "drop_partitions":
            return [f"{given[0]} {part}" for part in given[1]]
        case "rename_partition":
            return [f"{given[1].table} {partition_name(keys, tuple(given[0]))} to {given[1].name(keys)}"]
        case "create_function" | "alter_database":
            return [given[0].name]
        case "drop_function":
            return [given[1]]
        case _:
            return [str(given[0])]


def planned(ports: WritePorts, policy: Policy) -> tuple[PhasePlan, list[Call]]:
    rehearsing = Rehearsing("incremental", pretended(untouchable(ports)), policy, lambda line: None, RunOptions())
    plan = rehearsed(rehearsing)
    return plan, unproved(rehearsing.ports.replica).calls  # type: ignore[attr-defined]


def recorded(ports: WritePorts) -> tuple[WritePorts, Recorded]:
    replica = Recorded(ports.replica)
    return replace(ports, replica=replica), replica


def assert_planned(followed: Followed) -> PhasePlan:
    plan, calls = planned(followed.world.ports(), followed.policy)
    ports, replica = recorded(followed.world.ports())
    stopped: str | None = None
    try:
        followed.run_with(ports)
    except ActNow as error:
        stopped = error.what
    assert replica.calls == calls
    assert [refusal.what for refusal in plan.refusals] == ([stopped] if stopped else [])
    return plan


@pytest.mark.thorough
@pytest.mark.parametrize("consistency", [EVERY_EVENT, WINDOW_END])
@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__)
def test_the_calls_of_a_plan_are_those_of_the_run(history: Callable[[SourceWriter], None], consistency: str) -> None:
    followed = Followed(tuned(consistency=consistency))
    history(followed.users)
    plan = assert_planned(followed)
    assert not plan.refused
    followed.assert_twin()


def sections(plan: PhasePlan) -> dict[str, tuple[str, ...]]:
    return {f"{one.verb} {one.what}": one.names for one in plan.sections if not one.verb.startswith("copy")}


def test_a_rename_out_of_the_scope_is_a_drop() -> None:
    followed = Followed(a_policy(exclude=("tmp_.*",)))
    followed.users.rename_table("plain", "tmp_plain")
    assert sections(assert_planned(followed)) == {"drop tables": ("sales.plain",)}


def test_a_rename_into_the_scope_brings_the_table_over() -> None:
    followed = Staged()
    followed.staging.rename_table("fresh", "fresh", "sales")
    plan = assert_planned(followed)
    assert sections(plan)["replace tables as a whole"] == ("fresh",)
    followed.assert_twin()


def test_rows_for_a_table_that_is_missing_stop_both() -> None:
    followed = Followed()
    followed.users.insert("plain", None, [b"more"])
    followed.world.replica.drop_table(TableName("sales", "plain"), delete_data=False)
    plan = assert_planned(followed)
    assert "is missing on west" in plan.verdict


@pytest.mark.parametrize("most", [2, 1_000])
@pytest.mark.parametrize("consistency", [EVERY_EVENT, WINDOW_END])
def test_what_the_drop_of_the_database_has_dropped_is_dropped_by_neither(consistency: str, most: int) -> None:
    followed = Followed(tuned(consistency=consistency, window_events=most))
    followed.users.create_table("late")
    drop_database(followed)
    plan = assert_planned(followed)
    while not plan.refused:
        plan = assert_planned(followed)
    assert "the source database east/sales was dropped" in plan.verdict
    assert not any(section.startswith("drop") for section in sections(plan))
    assert set(followed.world.replica.table_names("sales")) >= {"plain", "late"}


def test_what_is_cancelled_within_a_window_is_not_planned() -> None:
    followed = Followed(tuned(consistency=WINDOW_END))
    followed.users.create_table("brief")
    followed.world.source.drop_table(TableName("sales", "brief"), delete_data=True)
    assert sections(assert_planned(followed)) == {}
    followed = Followed()
    followed.users.create_table("brief")
    followed.world.source.drop_table(TableName("sales", "brief"), delete_data=True)
    assert sections(assert_planned(followed)) == {"create tables": ("sales.brief",), "drop tables": ("sales.brief",)}


def test_what_would_be_frozen_is_held_back_in_both() -> None:
    followed = Followed(tuned(on_object_error="quarantine"))
    followed.world.replica.drop_table(TableName("sales", "plain"), delete_data=False)
    followed.users.insert("plain", None, [b"more"])
    followed.users.insert("plain", None, [b"and more"])
    plan = assert_planned(followed)
    assert len(sections(plan)["hold back events of quarantined tables"]) == 4  # each with the table's new counts


def test_external_tables_are_published_in_both_and_their_rows_are_left_to_passes() -> None:
    followed = FollowedExternals.from_the_beginning()
    followed.users.create_external("more", keys=("p",))
    followed.users.add_external("more", ("1",))
    assert_planned(followed)
    followed.sync()
    followed.users.insert("more", ("1",), [b"two"])
    plan = assert_planned(followed)
    assert sections(plan)["publish external tables whose data has come"] == ("more",)
    assert not any(section.startswith("append") for section in sections(plan))


def test_every_event_of_a_window_is_counted_once() -> None:
    followed = Followed()
    before = followed.world.source.current_event_id()
    followed.users.create_function("f", ["hdfs://east/jars/gone.jar"])
    plan = assert_planned(followed)
    assert "is left out" in sections(plan)["pass over events"][0]
    assert plan.events == followed.world.source.current_event_id() - before


class Planned(Drill):
    """Replicate a random history, each window planned before it is applied."""

    windows = 0

    def _run_phases(self, ports: WritePorts) -> dict[str, Any]:
        if ReplicaState.read(self.viewer.parameters()).phase is not Phase.FOLLOWING:
            return super()._run_phases(ports)
        quiet = self.ports(Plan(), quiet=True)
        plan, calls = planned(quiet, self.policy)
        ports, replica = recorded(quiet)
        try:
            results = self._run(INCREMENTAL, ports)
        except TwinhiveError:
            return super()._run_phases(self.ports(Plan(), quiet=True))
        assert replica.calls == calls, f"seed {self.seed}"
        assert not plan.refused, f"seed {self.seed}"
        self.windows += bool(calls)
        return results


@pytest.mark.thorough
@pytest.mark.parametrize(
    "settings",
    [{}, {"odd": True}, {"keys": True}, {"crosses": True}, {"moves": True}, {"consistency": WINDOW_END}],
    ids=str,
)
def test_the_calls_of_plans_are_those_of_runs_over_random_histories(settings: dict[str, Any]) -> None:
    windows = 0
    for seed in SEEDS:
        drill = Planned(seed, Settings(faults=0, **settings))
        drill.run()
        drill.assert_end()
        windows += drill.windows
    assert windows > len(SEEDS)
