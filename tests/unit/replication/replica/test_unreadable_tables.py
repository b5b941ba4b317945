"""One table that cannot be read stops nobody else: a foreign one is left out, one of ours named or frozen."""

from dataclasses import replace
from typing import Any

import pytest

from tests.support.builders import a_policy, a_table
from tests.support.hive.hidden_objects import hide
from tests.support.worlds.fake_world import World, a_world, tuned
from tests.unit.operations.failover.test_failback import BACK, HOLDER, Switched, kept
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.verify.verifying import Verifying
from twinhive.core.model.errors import ActNow, UnreadableObject
from twinhive.core.model.marks import STAMP
from twinhive.core.model.messages.topics import TopicRules
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database
from twinhive.core.model.quarantine import frozen_tables
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.resync import Resync
from twinhive.operations.actions.resync_all import ResyncEverything
from twinhive.operations.failover.failback import Failback
from twinhive.operations.failover.forget import Forget
from twinhive.operations.monitoring.inventory import read_tables
from twinhive.publishing.messages.event_announcements import AnnouncedDatabases
from twinhive.publishing.messages.message_factory import TopicsOfTables
from twinhive.replication.bootstrap.preflight import Preflight
from twinhive.replication.scan.scan import Scan

ORDERS = TableName("sales", "orders")


def with_foreign(world: World) -> World:
    for metastore in (world.source, world.replica):
        metastore.create_database(Database("theirs", None, None, {}, "{}"))
        metastore.create_table(a_table("theirs.t"))
    return world


def test_policies_of_other_databases_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    world = with_foreign(a_world())
    for metastore in (world.source, world.replica):
        hide(monkeypatch, metastore, "theirs.t")
    said: list[str] = []
    assert Preflight(Work(a_policy(), report=lambda line: said.append(str(line)))).problems(world.ports()) == []
    assert sum("theirs.t" in line for line in said) == 2
    followed = Followed(world=world)
    followed.users.insert("plain", None, [b"more"])
    followed.follow()
    followed.assert_twin()


def test_a_database_that_cannot_be_read_is_left_out_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    world = with_foreign(a_world())
    database = world.source.database

    def read(name: str) -> Any:
        if name == "theirs":
            raise UnreadableObject("reading database theirs: cannot be read")
        return database(name)

    monkeypatch.setattr(world.source, "database", read)
    assert Preflight(Work(a_policy())).problems(world.ports()) == []


def test_a_bootstrap_names_a_table_of_its_own_and_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world()
    hide(monkeypatch, world.source, "sales.plain")
    with pytest.raises(ActNow, match=r"sales\.plain"):
        Followed(world=world)


def test_a_bootstrap_leaves_it_out_where_the_policy_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world()
    with monkeypatch.context() as meanwhile:
        hide(meanwhile, world.source, "sales.plain")
        followed = Followed(tuned(on_object_error="quarantine"), world)
    assert world.replica.table(TableName("sales", "plain")) is None
    assert world.replica.table(TableName("sales", "orders")) is not None
    assert any("sales.plain" in line and "cannot be read" in line for line in followed.log)
    followed.users.insert("plain", None, [b"more"])
    followed.users.insert("orders", ("a b",), [b"more"])
    assert followed.follow()["apply"].quarantined.keys() == {"plain"}


@pytest.mark.parametrize("consistency", ["every_event", "window_end"])
def test_a_window_freezes_the_table_and_applies_the_others(monkeypatch: pytest.MonkeyPatch, consistency: str) -> None:
    followed = Followed(tuned(on_object_error="quarantine", consistency=consistency))
    followed.users.insert("plain", None, [b"more"])
    followed.users.insert("orders", ("a b",), [b"more"])
    hide(monkeypatch, followed.world.replica, "sales.plain")
    assert followed.follow()["apply"].quarantined.keys() == {"plain"}


def test_a_window_that_is_to_stop_names_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed()
    followed.users.insert("plain", None, [b"more"])
    hide(monkeypatch, followed.world.replica, "sales.plain")
    with pytest.raises(ActNow, match=r"event \d+.*sales\.plain"):
        followed.follow()


def test_a_verification_judges_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    verifying = Verifying()
    verifying.world.replica_files.put("hdfs://west/warehouse/managed/nobody", b"")
    whole = verifying.verify()
    for side in (verifying.world.source, verifying.world.replica):
        with monkeypatch.context() as meanwhile:
            hide(meanwhile, side, "sales.plain")
            found = verifying.verify()
            assert list(found.not_judged) == ["plain"] and "cannot be read" in found.not_judged["plain"]
            assert found.leaves == whole.leaves - 1 and not found.findings


def test_a_scan_looks_at_the_others_and_names_it_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed(tuned(on_object_error="quarantine"))
    hide(monkeypatch, followed.world.source, "sales.plain")
    with pytest.raises(ActNow, match=r"sales\.plain"):
        Scan(Work(followed.policy, report=followed.say), wait=lambda seconds: None).run(followed.world.ports())
    assert any("directories looked at" in line for line in followed.log)


def test_a_scan_is_not_red_for_what_is_frozen_and_told_by_the_status(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world()
    hide(monkeypatch, world.source, "sales.plain")
    followed = Followed(tuned(on_object_error="quarantine"), world)
    Scan(Work(followed.policy, report=followed.say), wait=lambda seconds: None).run(followed.world.ports())
    assert any("directories looked at" in line for line in followed.log)


def test_a_scan_passes_over_what_lies_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed()
    followed.users.set_partition_location("orders", ("a b",), "har://hdfs-east/warehouse/data.har")
    followed.follow()
    listed = followed.world.source_files.list_directories

    def list_own(paths: Any) -> Any:
        places = list(paths)
        assert not [one for one in places if one.startswith("har:")], "a real file system refuses such a path"
        return listed(places)

    monkeypatch.setattr(followed.world.source_files, "list_directories", list_own)
    Scan(Work(followed.policy, report=followed.say), wait=lambda seconds: None, deep=True).run(followed.world.ports())


@pytest.mark.parametrize("side", ["source", "replica"])
def test_a_resync_of_everything_compares_the_others(side: str, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed(tuned(on_object_error="quarantine"))
    verifying = Verifying(followed)
    verifying.world.replica_files.put(f"{followed.world.replica.table(ORDERS).location}/p=a b/more", b"not there")
    ResyncEverything(followed.policy, {"by": "test"}).run(followed.world.ports())
    with monkeypatch.context() as meanwhile:
        hide(meanwhile, getattr(followed.world, side), "sales.plain")
        for _ in range(4):
            followed.follow()
    frozen = frozen_tables(followed.world.replica.database("sales").parameters)
    assert frozen.keys() == {"plain"}
    Resync(followed.policy, "plain", {"by": "test"}).run(followed.world.ports())
    followed.follow()
    assert Verifying(followed).verify(deep=True).is_equal


def test_an_inventory_lists_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed()
    for metastore in (followed.world.source, followed.world.replica):
        hide(monkeypatch, metastore, "sales.plain")
    names = {entry.table for entry in read_tables(followed.world.ports(), followed.policy)}
    assert "orders" in names and "plain" not in names


def test_what_only_an_old_primary_has_is_kept_of_the_others_then_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    switched = Switched()
    switched.east.add_partitions("orders", {("mine",): [b"m"]})
    with monkeypatch.context() as meanwhile:
        hide(meanwhile, switched.world.source, "sales.plain")
        with pytest.raises(ActNow, match=r"sales\.plain"):
            Failback(BACK, HOLDER).keep(switched.ports())
    assert kept(switched) == {("orders", "p=mine"): [b"m"]}
    switched.fail_back()
    assert kept(switched) == {("orders", "p=mine"): [b"m"]}


@pytest.mark.parametrize("name", ["sales.plain", "sales.others"])
def test_a_policy_is_forgotten_but_for_a_table_that_it_selects(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed(replace(a_policy(), exclude=("others",)))
    followed.world.replica.create_table(a_table("sales.others", location="hdfs://west/others"))
    forget = Forget(followed.policy, HOLDER)
    with monkeypatch.context() as meanwhile:
        hide(meanwhile, followed.world.replica, name)
        if name == "sales.plain":
            with pytest.raises(ActNow, match=r"sales\.plain"):
                forget.run(followed.world.ports())
        else:
            forget.run(followed.world.ports())
    assert STAMP not in followed.world.replica.table(ORDERS).parameters
    forget.run(followed.world.ports())
    assert STAMP not in followed.world.replica.table(TableName("sales", "plain")).parameters


def test_all_tables_that_can_be_read_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world()
    hide(monkeypatch, world.source, "sales.plain")
    topics = TopicsOfTables(world.source, TopicRules("east", "{database}.{table}"), AnnouncedDatabases(("sales",)))
    told = {name.table for name, _ in topics.tables_of("sales")}
    assert "orders" in told and "plain" not in told
