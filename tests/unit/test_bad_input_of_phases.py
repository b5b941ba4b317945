"""Every bad input gives one clear error of the right family, and changes nothing."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from tests.support.builders import a_policy, a_table
from tests.support.worlds.fake_world import REPLICA_ADDRESS, SOURCE_ADDRESS, World, a_world
from twinhive.core.model.errors import ActNow, TryAgain, TwinhiveError
from twinhive.core.model.files import Space
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database
from twinhive.core.step.step_base import Work
from twinhive.replication.bootstrap.preflight import Preflight
from twinhive.replication.dump.dump_store import current_dump
from twinhive.runtime.pipeline.phases import BOOTSTRAP, CONSOLIDATE
from twinhive.runtime.pipeline.runner import run_phase, run_rounds


def state(world: World) -> Any:
    return (
        world.source_files.paths(),
        world.replica_files.paths(),
        list(world.source.events),
        world.replica.current_event_id(),
        [world.source.database(name) for name in ("sales",)],
        [world.replica.database(name) for name in ("sales",)],
    )


def no_database(world: World) -> None:
    for name in world.source.table_names("sales"):
        world.source.drop_table(TableName("sales", name), delete_data=False)
    world.source._databases.clear()


def no_listener(world: World) -> None:
    world.source.configurations[SOURCE_ADDRESS]["metastore.transactional.event.listeners"] = " "


def no_change_manager(world: World) -> None:
    world.source.configurations[SOURCE_ADDRESS]["metastore.repl.cm.enabled"] = "false"


def guarded_log(world: World) -> None:
    world.source.guards_log, world.source.user = True, "ann"


def foreign_replica(world: World) -> None:
    world.replica.create_database(Database("sales", None, None, {"made.by": "ann"}, thrift="{}"))


def replica_of_another_policy(world: World) -> None:
    world.replica.create_database(Database("sales", None, None, {"twinhive.policy": "other"}, thrift="{}"))


def no_space(world: World) -> None:
    world.replica_files.quotas["hdfs://west/"] = Space(free_bytes=3)


def no_names(world: World) -> None:
    world.replica_files.quotas["hdfs://west/twinhive/staging"] = Space(free_bytes=10**9, quota_names_left=1)


def safe_mode(world: World) -> None:
    world.replica_files.safe_mode = True


def other_file_system(world: World) -> None:
    world.replica.configurations[REPLICA_ADDRESS]["metastore.warehouse.dir"] = "hdfs://elsewhere/warehouse"


def parameters_left_out(world: World) -> None:
    world.source.configurations[SOURCE_ADDRESS]["metastore.notification.parameters.exclude.patterns"] = "^impala, trans"


def pattern_of_java_alone(world: World) -> None:
    world.source.configurations[SOURCE_ADDRESS]["metastore.notification.parameters.exclude.patterns"] = r"\\p{Lu}++("


def another_catalog(world: World) -> None:
    world.source.configurations[SOURCE_ADDRESS]["metastore.catalog.default"] = "spark"


def caching_store(world: World) -> None:
    store = "org.apache.hadoop.hive.metastore.cache.CachedStore"
    world.source.configurations[SOURCE_ADDRESS]["metastore.rawstore.impl"] = store


def caching_store_of_the_replica(world: World) -> None:
    store = "org.apache.hadoop.hive.metastore.cache.CachedStore"
    world.replica.configurations[REPLICA_ADDRESS]["metastore.rawstore.impl"] = store


@pytest.mark.parametrize(
    ("spoil", "family", "said"),
    [
        (parameters_left_out, ActNow, "which leaves out transactional, transactional_properties"),
        (pattern_of_java_alone, ActNow, "leaves out of its events what tells kinds of tables"),
        (another_catalog, ActNow, "metastore.catalog.default = spark"),
        (caching_store, ActNow, "east-metastore:9083 of cluster east does not answer from its database alone"),
        (caching_store_of_the_replica, ActNow, "west-metastore:9083 of cluster west does not answer"),
        (no_database, ActNow, "database sales does not exist on cluster east"),
        (no_listener, ActNow, "keeps no notification log"),
        (no_change_manager, ActNow, "keeps no dropped files"),
        (guarded_log, ActNow, "hadoop.proxyuser.ann.hosts"),
        (foreign_replica, ActNow, "no mark of any policy"),
        (replica_of_another_policy, ActNow, "the mark of policy other"),
        (no_space, ActNow, "there is not enough room"),
        (no_names, ActNow, "there is not enough room"),
        (safe_mode, TryAgain, "is in safe mode"),
        (other_file_system, ActNow, "staging_root of policy sales is on another file system"),
    ],
)
def test_preflight_refuses(spoil: Callable[[World], None], family: type[TwinhiveError], said: str) -> None:
    world = a_world()
    spoil(world)
    before = None if spoil is no_database else state(world)

    with pytest.raises(family) as caught:
        Preflight(Work(a_policy())).run(world.ports())

    assert said in str(caught.value)
    assert "next:" in str(caught.value)
    if before is not None:
        assert state(world) == before


def test_preflight_takes_patterns_that_leave_out_nothing_of_what_tells_kinds() -> None:
    world = a_world()
    world.source.configurations[SOURCE_ADDRESS]["metastore.notification.parameters.exclude.patterns"] = "^impala_.*, "
    Preflight(Work(a_policy())).run(world.ports())


def test_preflight_says_all_problems_at_once_and_a_person_comes_before_a_retry() -> None:
    world = a_world()
    no_listener(world)
    safe_mode(world)
    with pytest.raises(ActNow) as caught:
        Preflight(Work(a_policy())).run(world.ports())
    assert "keeps no notification log" in str(caught.value)
    assert "is in safe mode" in str(caught.value)


def test_preflight_asks_every_address_of_the_source() -> None:
    world = a_world()
    world.source.configurations["second:9083"] = {"metastore.repl.cm.enabled": "true"}
    with pytest.raises(ActNow, match="second:9083"):
        Preflight(Work(a_policy())).run(world.ports())


def test_preflight_marks_the_source_for_its_change_manager() -> None:
    world = a_world()
    Preflight(Work(a_policy())).run(world.ports())
    assert "sales" in world.source.database("sales").parameters["repl.source.for"].split(",")


@pytest.mark.parametrize("down", ["source", "replica", "source_files", "replica_files"])
def test_a_server_that_does_not_answer_is_tried_again(down: str) -> None:
    world = a_world()
    getattr(world, down).down = True
    with pytest.raises(TryAgain):
        Preflight(Work(a_policy())).run(world.ports())


STAGES = (*BOOTSTRAP, *CONSOLIDATE)


def run_until(world: World, last: str, policy=None) -> dict[str, Any]:
    stages = STAGES[: [stage.name for stage in STAGES].index(last) + 1]
    return run_phase(stages, policy or a_policy(), world.ports(), {}, lambda line: None)


def run_only(world: World, name: str, policy=None, earlier: Mapping[str, Any] = MappingProxyType({})) -> None:
    stages = tuple(stage for stage in STAGES if stage.name == name)
    run_phase(stages[:1], policy or a_policy(), world.ports(), {}, lambda line: None, earlier)


def finish(world: World, policy=None) -> None:
    run_rounds(policy or a_policy(), world.ports(), {}, lambda line: None)


def tables_on_replica(world: World) -> list[str]:
    return world.replica.table_names("sales")


def test_a_change_in_scope_during_the_bootstrap_is_folded_in() -> None:
    world = a_world()
    run_until(world, "copy")
    world.add_table(a_table("sales.new"))
    finish(world)
    assert "new" in tables_on_replica(world)
    assert world.replica.database("sales").parameters["repl.last.id"] == str(world.source.current_event_id())


def test_a_dump_that_is_not_consolidated_is_never_loaded() -> None:
    world = a_world()
    run_until(world, "copy")
    for name in ("gate", "load"):
        with pytest.raises(ActNow, match="not consolidated"):
            run_only(world, name)
    assert world.replica.database("sales") is None


def test_a_change_in_another_database_is_none_of_ours() -> None:
    world = a_world()
    run_until(world, "copy")
    world.source.create_database(Database("other", None, None, {}, thrift="{}"))
    world.add_table(a_table("other.new"))
    finish(world)
    assert world.replica.database("sales").parameters["twinhive.phase"] == "following"


def test_an_excluded_table_that_appears_stays_excluded() -> None:
    world, policy = a_world(), a_policy(exclude=("tmp_.*",))
    run_until(world, "copy", policy)
    world.add_table(a_table("sales.tmp_1"))
    finish(world, policy)
    assert "tmp_1" not in tables_on_replica(world)


def test_a_gap_in_the_log_stops_the_round() -> None:
    world = a_world()
    run_until(world, "copy")
    world.source.emit("OPEN_TXN", None, None, {})
    world.source.emit("OPEN_TXN", None, None, {})
    world.source.expire_events(world.source.current_event_id() - 1)
    with pytest.raises(ActNow, match="has a gap"):
        finish(world)


def test_an_emptied_log_does_not_look_like_nothing_happened() -> None:
    world = a_world()
    run_until(world, "copy")
    world.add_table(a_table("sales.new"))
    world.source.expire_events(world.source.current_event_id())
    with pytest.raises(ActNow, match="has a gap"):
        finish(world)


def test_a_log_restored_from_a_backup_is_not_taken_for_the_same() -> None:
    world = a_world()
    run_until(world, "copy")
    world.source.events[-1] = replace(world.source.events[-1], message='{"another": "event"}')
    with pytest.raises(ActNow, match="not the one it was"):
        finish(world)


def test_a_policy_changed_since_the_dump_is_refused() -> None:
    world = a_world()
    run_until(world, "copy")
    with pytest.raises(ActNow, match="made under another text"):
        finish(world, a_policy(fingerprint="f2"))


def test_a_file_changed_after_its_listing_is_never_loaded() -> None:
    world = a_world()
    plain = world.source.table(TableName("sales", "plain"))
    listed = run_until(world, "list_files")
    world.source_files.put(f"{plain.location}/data", b"changed without an event")
    run_only(world, "copy", earlier=listed)
    finish(world)

    there = world.replica.table(TableName("sales", "plain"))
    assert world.replica_files.read(f"{there.location}/data") == b"changed without an event"


def test_a_foreign_directory_in_the_way_is_not_touched() -> None:
    world = a_world()
    run_until(world, "gate")
    token = current_dump(world.source_files, a_policy()).manifest.token[:8]
    path = f"hdfs://west/warehouse/managed/sales.db/plain.{world.source.current_event_id()}-{token}/mine"
    world.replica_files.put(path, b"precious")
    with pytest.raises(ActNow, match="exists already"):
        run_only(world, "load")
    assert world.replica_files.read(path) == b"precious"


def test_a_metastore_that_translates_managed_tables_is_told_and_leaves_no_table() -> None:
    world = a_world()
    world.replica.translates_managed = True
    run_until(world, "gate")
    with pytest.raises(ActNow, match=r"metastore\.metadata\.transformer\.class"):
        run_only(world, "load")
    assert world.replica.table_names("sales") == []


def test_orphaned_dumps_are_removed_when_a_new_one_is_there() -> None:
    world = a_world()
    run_until(world, "list_objects")
    world.source_files.put("hdfs://east/twinhive/dumps/sales/_attempt-dead/objects/b0001.jsonl.gz", b"")
    world.add_table(a_table("sales.new"))
    run_until(world, "list_objects")
    names = {
        path.split("/")[6]
        for path in world.source_files.paths()
        if path.startswith("hdfs://east/twinhive/dumps/sales/")
    }
    assert len(names) == 1


def test_an_unreadable_dump_does_not_keep_a_new_one_from_being_written() -> None:
    world = a_world()
    run_until(world, "list_objects")
    (manifest,) = [path for path in world.source_files.paths() if path.endswith("dump.json")]
    world.source_files.write(manifest, b'{"format": 99}')
    with pytest.raises(ActNow, match="format 99"):
        run_only(world, "gate")
    run_until(world, "load")


def test_a_retry_is_not_refused_for_the_room_that_its_own_staging_takes() -> None:
    world = a_world()
    run_until(world, "copy")
    needed = sum(len(content) for content in (b"one", b"two", b"three", b"plain"))
    world.replica_files.quotas["hdfs://west/"] = Space(free_bytes=needed - 1)
    Preflight(Work(a_policy())).run(world.ports())


def test_a_replica_in_an_unknown_phase_is_not_touched() -> None:
    world = a_world()
    run_until(world, "load")
    parameters = dict(world.replica.database("sales").parameters) | {"twinhive.phase": "dreaming"}
    world.replica.set_database_parameters("sales", parameters)
    with pytest.raises(ActNow, match="dreaming"):
        run_only(world, "load")


def test_a_replica_of_another_version_is_not_touched_and_the_bootstrap_is_named() -> None:
    world = a_world()
    run_until(world, "load")
    parameters = dict(world.replica.database("sales").parameters) | {"twinhive.format": "0"}
    world.replica.set_database_parameters("sales", parameters)
    with pytest.raises(ActNow, match=r"(?s)found:    twinhive\.format = 0\n.*sales\.bootstrap with again=true"):
        run_only(world, "load")
    assert dict(world.replica.database("sales").parameters) == parameters
