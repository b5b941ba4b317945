"""A plan says what a run would do, and the run then does that; the plan itself changes nothing."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.support.builders import a_policy
from tests.support.worlds.external_world import a_world_with_files
from tests.support.worlds.fake_world import LISTENER, SOURCE_ADDRESS, World, a_world, tuned
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.scan.test_scan import put, scan
from twinhive.core.model.errors import Unreachable
from twinhive.core.model.names import TableName
from twinhive.core.ports import FileReader, MetastoreReader, TreePorts, TreeReader, WritePorts
from twinhive.runtime.dry_run.phase_plan import PhasePlan, PlanSection
from twinhive.runtime.dry_run.rehearsal import rehearse
from twinhive.runtime.pipeline.phases import BOOTSTRAP, CONSOLIDATE, PHASES
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase

POLICY = a_policy()
READING = {name for reader in (MetastoreReader, FileReader, TreeReader) for name in dir(reader) if name[0] != "_"}


class Untouchable:
    """A port that fails the test when anything but a reading method is as much as looked up."""

    def __init__(self, port: Any, allowed: frozenset[str] = frozenset()) -> None:
        self._port = port
        self._allowed = READING | allowed

    def __getattr__(self, name: str) -> Any:
        assert name in self._allowed, f"a rehearsal must not call {name}"
        return getattr(self._port, name)


def untouchable(ports: WritePorts) -> WritePorts:
    lease = Untouchable(ports.lease, frozenset({"holder"}))
    return WritePorts(
        source=Untouchable(ports.source),
        replica=Untouchable(ports.replica),
        source_files=Untouchable(ports.source_files),
        replica_files=Untouchable(ports.replica_files),
        dump_files=Untouchable(ports.dump_files),
        lease=lease,
        source_marker=Untouchable(ports.source_marker),
        trees=TreePorts(
            Untouchable(ports.trees.source), Untouchable(ports.trees.replica), lease, Untouchable(ports.trees.source)
        ),
    )


def plan(world: World, phase: str, policy=POLICY, **form: bool) -> PhasePlan:
    return rehearse(phase, untouchable(world.ports()), policy, **form)


def section(planned: PhasePlan, verb: str, what: str) -> PlanSection:
    return next(one for one in planned.sections if (one.verb, one.what) == (verb, what))


def test_every_phase_can_be_rehearsed_where_nothing_is_yet() -> None:
    for phase in PHASES:
        planned = plan(a_world(), phase)
        assert planned.lines()[-1] == planned.verdict
        assert planned.verdict.startswith("a real run would ")


def test_a_bootstrap_says_what_it_would_copy_and_create() -> None:
    world = a_world()
    planned = plan(world, "bootstrap")
    assert not planned.refused
    assert section(planned, "create", "databases").names == ("west/sales",)
    created = section(planned, "create", "tables")
    assert created.names == ("sales.empty", "sales.no_partitions", "sales.orders", "sales.plain")
    assert section(planned, "create", "partitions").count == 3
    assert section(planned, "create", "views").names == ("sales.recent",)
    assert "sales.outside" in section(planned, "leave out", "tables").names[0]
    run_bootstrap(POLICY, world.ports(), {"run": "b"}, lambda line: None)
    assert set(world.replica.table_names("sales")) == {"empty", "no_partitions", "orders", "plain", "recent"}


def test_a_bootstrap_that_would_be_refused_names_every_problem() -> None:
    world = a_world()
    world.source.configurations[SOURCE_ADDRESS]["metastore.transactional.event.listeners"] = ""
    world.source.configurations[SOURCE_ADDRESS]["metastore.repl.cm.enabled"] = "false"
    planned = plan(world, "bootstrap")
    assert len(planned.refusals) == 2
    assert planned.verdict.startswith("a real run would stop: ")
    assert LISTENER in "\n".join(planned.lines())
    assert [problem["act_now"] for problem in planned.as_json()["refusals"]] == [True, True]


def test_a_published_replica_is_planned_anew_only_if_asked_for() -> None:
    world = Followed().world
    assert "already applied" in str(plan(world, "bootstrap").nothing)
    planned = plan(world, "bootstrap", again=True)
    assert section(planned, "drop", "tables of an earlier load").count == 5
    built = section(planned, "remove", "directories of an earlier load").names
    assert len(built) == 4 and all(map(world.replica_files.status, built))
    dumps = section(planned, "remove", "older dumps and events").names
    assert dumps and all(map(world.source_files.status, dumps))
    run_bootstrap(POLICY, world.ports(), {"run": "b"}, lambda line: None, again=True)
    assert not any(map(world.replica_files.status, built))
    world = Followed().world
    plan(world, "bootstrap", again=True)
    assert world.replica.database("sales").parameters["twinhive.phase"] == "following"


def test_a_round_says_which_batches_are_not_copied_yet() -> None:
    world = a_world()
    run_phase(BOOTSTRAP, POLICY, world.ports(), {"run": "b"}, lambda line: None)
    assert plan(world, "consolidate").files == 0
    plain = world.source.tables("sales", ["plain"])[0]
    world.source_files.put(f"{plain.location}/data", b"plain, but new")
    world.source.drop_table(TableName("sales", "empty"), delete_data=True)
    planned = plan(world, "consolidate")
    assert planned.events == 1
    assert "sales.empty" not in section(planned, "create", "tables").names
    run_phase(CONSOLIDATE, POLICY, world.ports(), {"run": "c"}, lambda line: None)


def test_a_window_says_what_its_events_change_and_what_is_copied_for_them() -> None:
    followed = Followed()
    followed.users.create_table("made", files=[b"one", b"two"])
    followed.users.insert("orders", ("a b",), [b"more"])
    followed.users.overwrite("plain", None, {"data": b"other rows"})
    followed.world.source.drop_table(TableName("sales", "empty"), delete_data=True)
    planned = plan(followed.world, "incremental")
    assert section(planned, "create", "tables").names == ("sales.made",)
    assert section(planned, "append to", "partitions").names == ("sales.orders p=a b",)
    assert section(planned, "overwrite", "tables").names == ("sales.plain",)
    assert section(planned, "drop", "tables").names == ("sales.empty",)
    assert planned.files == 4
    assert planned.bytes == len(b"onetwomoreother rows")
    again = plan(followed.world, "incremental")
    assert again.sections == planned.sections
    followed.follow()
    followed.assert_twin()
    assert plan(followed.world, "incremental").nothing


def test_a_window_that_was_begun_is_planned_as_it_is() -> None:
    followed = Followed()
    followed.users.insert("plain", None, [b"more"])
    followed.run_with(followed.world.ports(), PHASES["incremental"][:1])
    followed.users.insert("plain", None, [b"later"])
    planned = plan(followed.world, "incremental")
    assert section(planned, "append to", "tables").count == planned.files == 1


def test_a_lane_that_waits_says_for_what() -> None:
    world = a_world()
    run_phase(BOOTSTRAP, POLICY, world.ports(), {"run": "b"}, lambda line: None)
    assert "the replica is being loaded" in str(plan(world, "incremental").nothing)


def test_a_scan_says_what_it_would_bring_over() -> None:
    followed = Followed(tuned(settle_seconds=0))
    scan(followed)
    put(followed, "plain", "part-1", b"silent")
    planned = plan(followed.world, "scan", followed.policy)
    found = section(planned, "copy", "tables and partitions changed without an event")
    assert (found.count, found.files, found.bytes) == (1, 1, 6)
    failing = replace(followed.policy, options=replace(followed.policy.options, silent_writes="fail"))
    assert plan(followed.world, "scan", failing).refused


def test_a_scan_names_the_directories_that_it_would_remove() -> None:
    followed = Followed(tuned(settle_seconds=0, grace_seconds=0))
    followed.users.overwrite("plain", None, {"data": b"other"})
    (before,) = followed.world.replica.tables("sales", ["plain"])
    followed.follow()
    scan(followed)
    planned = plan(followed.world, "scan", followed.policy)
    assert section(planned, "remove", "directories that nobody uses any more").names == (before.location,)
    assert followed.world.replica_files.status(before.location)


def test_a_pass_says_what_each_directory_takes_and_what_is_deleted() -> None:
    world = a_world_with_files()
    before = rehearse("external", untouchable(world.ports()), world.policy)
    assert (before.files, before.bytes, before.tables) == (2, 6, 1)
    assert section(before, "copy, new", "in directories").names == ("sales.events",)
    world.check()
    world.cycle()
    assert "equal on both sides" in str(rehearse("external", untouchable(world.ports()), world.policy).nothing)
    world.put("/data/events/f", b"other")
    world.world.source_files.delete("hdfs://east/data/events/day=1/g")
    after = rehearse("external", untouchable(world.ports()), world.policy)
    assert (after.files, after.bytes) == (1, 5)
    assert section(after, "delete", "in directories").files == 1
    world.cycle()
    world.assert_twin("/data/events")


def test_data_that_was_dropped_at_the_source_is_planned_to_be_deleted() -> None:
    world = a_world_with_files()
    gone = world.add_table("gone", "hdfs://east/data/gone")
    world.put("/data/gone/f", b"x")
    world.cycle()
    world.world.source.drop_table(gone.name, delete_data=True)
    world.note_purge("/data/gone", event_id=1)
    world.follow_up_to(world.world.source.current_event_id())
    planned = rehearse("external", untouchable(world.ports()), world.policy)
    assert section(planned, "delete", "data of dropped tables").names == ("hdfs://west/ext/data/gone",)
    assert world.there("/data/gone") != {}


def test_what_a_pass_would_refuse_is_in_its_plan() -> None:
    world = a_world_with_files(base_directory="hdfs://west/warehouse/managed/below")
    assert "is not apart from" in rehearse("external", untouchable(world.ports()), world.policy).verdict


def unreachable() -> str:
    raise Unreachable("the source does not answer")


def test_a_server_that_does_not_answer_is_tried_again() -> None:
    world = a_world()
    world.source.log_id = unreachable
    with pytest.raises(Unreachable):
        plan(world, "consolidate")


def test_names_are_cut_short_and_counted() -> None:
    said = str(PlanSection.of("create", "tables", (f"t{number}" for number in range(1_500))))
    assert said == "create tables: 1,500: t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, and 1,490 more"


def test_a_plan_is_plain_values_for_scripts() -> None:
    said = json.loads(json.dumps(plan(a_world(), "bootstrap").as_json()))
    assert said["phase"] == "bootstrap"
    assert said["sections"][0].keys() == {"verb", "what", "count", "names", "files", "bytes"}
