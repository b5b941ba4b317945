"""One table that cannot be read stops nobody else: a foreign one is left out, one of ours named or frozen."""

from typing import Any

import pytest

from tests.support.builders import a_policy, a_table
from tests.support.hive.hidden_objects import hide
from tests.support.worlds.fake_world import World, a_world, tuned
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.verify.verifying import Verifying
from twinhive.core.model.errors import ActNow, UnreadableObject
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database
from twinhive.core.step.step_base import Work
from twinhive.replication.bootstrap.preflight import Preflight
from twinhive.replication.scan.scan import Scan


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
