"""External tables of a failback return to the paths that they came from; what only the old primary has is kept."""

from dataclasses import replace
from typing import Any

import pytest

from tests.support.builders import an_external
from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hdfs.fake_lease import InMemoryLease
from tests.support.users.external_writer import ExternalWriter
from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.external_followed import FollowedExternals
from tests.support.worlds.fake_world import REPLICA_ADDRESS, SOURCE_ADDRESS, killable
from tests.unit.operations.failover.test_failback import BACK, HOLDER, Switched, kept
from tests.unit.operations.failover.test_readiness import READY
from twinhive.core.model.errors import ActNow, Refused, TryAgain
from twinhive.core.model.external.modes import External
from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.pause import Unpause
from twinhive.operations.failover.failback import Failback
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.replication.external_tables.check_base import CheckBase
from twinhive.replication.replica.pending_files import pending_names, purge_paths
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_phase, run_whole

RETURNED = External(
    base_directory="hdfs://east/", source_root="hdfs://west", returns_from="hdfs://west/ext", trash_days=1.0
)
BACK_EXTERNAL = replace(BACK, external=RETURNED)


def bring(policy: Policy, ports: WritePorts) -> None:
    """Let events and data go on until nothing is left of either."""
    for _ in range(3):
        while not run_phase(INCREMENTAL, policy, ports, {"run": "i"}, lambda line: None)["window"].idle:
            pass
        run_whole("external", policy, ports, {"run": "e"}, lambda line: None)


class SwitchedExternals(Switched):
    """Two clusters of which west has taken over, external tables too."""

    west: ExternalWriter

    def __init__(self) -> None:
        followed = FollowedExternals()
        self.there, self.world = followed.policy, followed.world
        self.back_lease, self.log = InMemoryLease(), []
        world = self.world
        world.replica.configurations[REPLICA_ADDRESS] |= READY | {"metastore.repl.cmrootdir": "/cmroot"}
        world.source.configurations[SOURCE_ADDRESS] |= READY | {
            "metastore.warehouse.dir": "hdfs://east/warehouse/managed"
        }
        self.east = ExternalWriter(world.source, world.source_files, "sales")
        self.west = ExternalWriter(world.replica, world.replica_files, "sales")
        world.source_files.make_directories("hdfs://east/outside")
        self.east.create_external("logs")
        self.east.create_external("days", ("p",))
        self.east.add_external("days", ("1",), ("2",))
        self.east.add_external("days", ("far",), below="hdfs://east/other")
        for place, content in {"logs/a": b"a", "days/p=1/a": b"1", "days/p=2/a": b"2"}.items():
            world.source_files.put(f"hdfs://east/data/{place}", content)
        world.source_files.put("hdfs://east/other/p=far/a", b"f")
        bring(self.there, world.ports())
        self.fail_over(self.there, world.ports())

    def fail_over(self, policy: Policy, ports: WritePorts) -> None:
        Failover(policy, HOLDER, wait=lambda seconds: None, catch_up=lambda token: bring(policy, ports)).run(ports)

    def fail_back(self) -> None:
        Failback(BACK_EXTERNAL, HOLDER).run(self.ports())
        self.settle(BACK_EXTERNAL, self.ports())

    def settle(self, policy: Policy, ports: WritePorts) -> None:
        Unpause(policy).run(ports)
        bring(policy, ports)
        self.go_on(policy, lambda: ports)


def data_of(files: InMemoryFiles, metastore: Any, table: str) -> dict[str, bytes]:
    """Return what readers find of a table, by path."""
    there = metastore.table(ExternalWriter(metastore, files, "sales").name(table))
    places = [there.location]
    if there.partition_keys:
        places = [place for _, place in metastore.partition_locations(there)]
    return {
        one.path: files.read(one.path)
        for _, children in files.list_directories(places)
        for one in children or ()
        if not one.is_directory
    }


def east_data(switched: Switched, table: str) -> dict[str, bytes]:
    return data_of(switched.world.source_files, switched.world.source, table)


def test_they_return_to_their_original_paths() -> None:
    switched = SwitchedExternals()
    files = switched.world.replica_files
    files.put("hdfs://west/ext/data/logs/b", b"west's")
    files.delete_file("hdfs://west/ext/data/days/p=2/a")
    files.put("hdfs://west/ext/other/p=far/a", b"changed")
    switched.west.create_external("made", location="hdfs://west/west's/made")
    files.put("hdfs://west/west's/made/a", b"m")
    switched.west.add_external("days", ("3",), below="hdfs://west/ext/data/days")
    files.put("hdfs://west/ext/data/days/p=3/a", b"3")
    switched.fail_back()
    assert east_data(switched, "logs") == {"hdfs://east/data/logs/a": b"a", "hdfs://east/data/logs/b": b"west's"}
    assert east_data(switched, "days") == {
        "hdfs://east/data/days/p=1/a": b"1",
        "hdfs://east/data/days/p=3/a": b"3",
        "hdfs://east/other/p=far/a": b"changed",
    }
    assert east_data(switched, "made") == {"hdfs://east/west's/made/a": b"m"}
    # What the new primary's users have replaced is kept, because no log tells who wrote it.
    assert kept(switched) == {("days", "p=2"): [b"2"], ("days", "p=far"): [b"f"]}


def test_what_only_the_old_primary_has_is_kept() -> None:
    switched = SwitchedExternals()
    switched.world.source_files.put("hdfs://east/data/logs/mine", b"never seen in west")
    assert any("only east/sales has: logs" in line for line in Failback(BACK_EXTERNAL, HOLDER).plan(switched.ports()))
    switched.fail_back()
    assert kept(switched) == {("logs", ""): [b"never seen in west"]}
    assert east_data(switched, "logs") == {"hdfs://east/data/logs/a": b"a"}


def test_there_and_back_twice_each_table_stays_at_its_place() -> None:
    switched = SwitchedExternals()
    for number in range(2):
        switched.world.replica_files.put(f"hdfs://west/ext/data/logs/w{number}", b"w")
        switched.fail_back()
        switched.fail_over(BACK_EXTERNAL, switched.ports())
        switched.world.source_files.put(f"hdfs://east/data/logs/e{number}", b"e")
        Failback(switched.there, HOLDER).run(switched.world.ports())
        switched.settle(switched.there, switched.world.ports())
        switched.fail_over(switched.there, switched.world.ports())
    west = data_of(switched.world.replica_files, switched.world.replica, "logs")
    assert {path.rpartition("/")[2] for path in west} == {"a", "w0", "w1", "e0", "e1"}
    assert all(path.startswith("hdfs://west/ext/data/logs/") for path in west)
    assert kept(switched) == {}


def test_killed_at_any_change_a_rerun_ends_alike() -> None:
    switched = SwitchedExternals()
    switched.world.source_files.put("hdfs://east/data/logs/mine", b"never seen in west")

    def act(world: Any, switch: Any) -> None:
        Failback(BACK_EXTERNAL, HOLDER).run(killable(world.ports(), switch))

    for left in left_by_kills(lambda: switched, act):
        left.fail_back()
        assert kept(left) == {("logs", ""): [b"never seen in west"]}


def test_nothing_is_put_where_somebody_else_has_something() -> None:
    switched = SwitchedExternals()
    switched.world.source_files.put("hdfs://east/made/theirs", b"precious")
    switched.west.create_external("made", location="hdfs://west/made")
    switched.world.replica_files.put("hdfs://west/made/a", b"m")
    with pytest.raises(ActNow, match="holds what no table of east/sales uses") as caught:
        switched.fail_back()
    assert "hdfs://east/made" in str(caught.value)
    assert switched.world.source_files.read("hdfs://east/made/theirs") == b"precious"
    switched.world.source_files.rename("hdfs://east/made", "hdfs://east/moved")
    switched.settle(BACK_EXTERNAL, switched.ports())
    assert east_data(switched, "made") == {"hdfs://east/made/a": b"m"}


@pytest.mark.parametrize(
    "external",
    [
        an_external(base_directory="hdfs://east/other", source_root="hdfs://west"),
        replace(RETURNED, returns_from="hdfs://west/x"),
    ],
)
def test_another_place_than_the_old_one_is_refused(external: External) -> None:
    switched = SwitchedExternals()
    with pytest.raises(Refused, match="would not bring external tables back") as caught:
        Failback(replace(BACK, external=external), HOLDER).run(switched.ports())
    assert "hdfs://west/ext" in str(caught.value)


def test_a_way_back_never_writes_below_the_base_directory_of_another_policy() -> None:
    switched = SwitchedExternals()
    switched.world.source_files.put("hdfs://east/data/.twinhive-external.json", b'{"policy": "other"}')
    with pytest.raises(ActNow, match="other"):
        switched.fail_back()


def test_external_data_that_was_written_after_the_last_copy_is_brought_before_a_planned_failover() -> None:
    followed = FollowedExternals()
    world = followed.world
    world.replica.configurations[REPLICA_ADDRESS] |= READY | {"metastore.repl.cmrootdir": "/cmroot"}
    world.source.configurations[SOURCE_ADDRESS] |= READY
    world.source_files.make_directories("hdfs://east/outside")
    followed.users.create_external("logs")
    world.source_files.put("hdfs://east/data/logs/a", b"a")
    bring(followed.policy, world.ports())
    world.source_files.put("hdfs://east/data/logs/late", b"late")

    failover = Failover(followed.policy, HOLDER, wait=lambda seconds: None)
    with pytest.raises(ActNow, match="may lack what was written last"):
        failover.run(world.ports())
    assert "not listed since" in str(failover.is_behind(world.ports()))
    with pytest.raises(TryAgain, match=r"(?s)may lack what was written last.*start the DAG sales\.external"):
        failover.prove_quiet(world.ports())
    assert world.replica.database("sales").parameters["twinhive.phase"] == "following"


def test_what_was_missing_comes_with_a_pass_that_began_since() -> None:
    followed = FollowedExternals()
    world = followed.world
    world.replica.configurations[REPLICA_ADDRESS] |= READY | {"metastore.repl.cmrootdir": "/cmroot"}
    world.source.configurations[SOURCE_ADDRESS] |= READY
    world.source_files.make_directories("hdfs://east/outside")
    bring(followed.policy, world.ports())

    def catch_up(token: str) -> None:
        world.source_files.put("hdfs://east/outside/late", b"late")
        bring(followed.policy, world.ports())

    Failover(followed.policy, HOLDER, wait=lambda seconds: None, catch_up=catch_up).run(world.ports())
    assert world.replica_files.read("hdfs://west/ext/outside/late") == b"late"
    assert world.replica.database("sales").parameters["twinhive.phase"] == "promoted"


def test_a_pass_that_is_made_before_the_failback_leaves_nothing_in_its_way() -> None:
    switched = SwitchedExternals()
    CheckBase(Work(BACK_EXTERNAL, holder=HOLDER)).run(switched.ports())
    switched.fail_back()
    assert east_data(switched, "logs") == {"hdfs://east/data/logs/a": b"a"}


def test_what_waited_before_two_switches_is_neither_published_nor_purged_after_them() -> None:
    switched = SwitchedExternals()
    world, files = switched.world, switched.world.source_files
    switched.fail_back()
    switched.west.create_external("late", location="hdfs://west/ext/data/late")
    switched.west.set_parameters("logs", {"external.table.purge": "true"})
    switched.west.drop_table("logs")
    while not run_phase(INCREMENTAL, BACK_EXTERNAL, switched.ports(), {"run": "i"}, lambda line: None)["window"].idle:
        pass
    assert pending_names(files, BACK_EXTERNAL) == ("late",) and len(purge_paths(files, BACK_EXTERNAL)) == 1
    at = int(world.source.database("sales").parameters["repl.last.id"])
    UnplannedFailover(BACK_EXTERNAL, at, "gone", HOLDER).run(switched.ports())
    Failback(switched.there, HOLDER).run(world.ports())
    switched.settle(switched.there, world.ports())
    switched.fail_over(switched.there, world.ports())
    Failback(BACK_EXTERNAL, HOLDER).run(switched.ports())
    assert pending_names(files, BACK_EXTERNAL) == () and purge_paths(files, BACK_EXTERNAL) == []
