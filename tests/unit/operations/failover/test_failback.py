"""The old primary becomes the replica of what took over: only what differs is copied; there and back twice."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.builders import a_policy, an_external
from tests.support.hdfs.fake_lease import InMemoryLease
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.fake_world import REPLICA_ADDRESS, SOURCE_ADDRESS, World, killable
from tests.unit.operations.failover.test_readiness import READY
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import ActNow, Foreign, Missing, Promoted, Refused
from twinhive.core.model.failover.fence import FENCED, QUOTA, FenceMark, FenceNote, FenceRules
from twinhive.core.model.marks import PHASE, POLICY, Phase
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import TableKind
from twinhive.core.model.policy import DatabaseAddress, Policy
from twinhive.core.ports import TreePorts, WritePorts
from twinhive.core.ports.proved_writes import unproved
from twinhive.core.step.step_base import Work
from twinhive.hive.adapters.hive.hive_source_marker import MetastoreMarker
from twinhive.operations.actions.pause import Unpause
from twinhive.operations.failover.failback import Failback
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.promotion import PROMOTED, Promotion
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.publishing.sets.listed_sets import SetsOfDatabase, SetStanding
from twinhive.publishing.sets.marking_sets import MarkSet, UnmarkSet
from twinhive.replication.comparison.leaf_reader import sides_of
from twinhive.replication.verify.verify import Verify
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_phase

HOLDER = {"run": "terminal-1", "task": "failback", "by": "ann"}
BACK = a_policy(
    name="sales_back",
    source=DatabaseAddress("west", "sales"),
    replica=DatabaseAddress("east", "sales"),
    dump_root="hdfs://west/twinhive/back/dumps",
    staging_root="hdfs://east/twinhive/back/staging",
)


class Switched:
    """Two clusters of which west has taken over, with a policy in each direction."""

    def __init__(
        self,
        *,
        loses: bool = False,
        partitions: int = 0,
        marks: bool = False,
        followed: Followed | None = None,
    ) -> None:
        followed = followed or Followed()
        orders = TableName("sales", "orders")
        if marks:
            for text in ("p=1", "p=a b"):
                MarkSet(orders, text, "before").run(followed.world.source)
            followed.follow()
        if partitions:
            followed.users.create_table("large", keys=("p",))
            rows = {(f"{number:06}",): {"f": b"x" * 1_000} for number in range(partitions)}
            followed.users.add_partitions("large", rows)
            followed.follow()
        self.there: Policy = followed.policy
        self.world: World = followed.world
        self.back_lease = InMemoryLease()
        self.log: list[str] = []
        world = self.world
        world.replica.configurations[REPLICA_ADDRESS] |= READY | {"metastore.repl.cmrootdir": "/cmroot"}
        world.source.configurations[SOURCE_ADDRESS] |= READY | {
            "metastore.warehouse.dir": "hdfs://east/warehouse/managed"
        }
        self.east, self.west = followed.users, SourceWriter(world.replica, world.replica_files, "sales")
        if loses:
            self.east.insert("plain", None, [b"never seen in west"])
            self.east.drop_partitions("orders", [("a b",)])
            if marks:
                self.east.add_partitions("orders", {("late",): [b"never seen in west"]})
                MarkSet(orders, "p=late", "lost").run(world.source)
            at = int(world.replica.database("sales").parameters["repl.last.id"])
            UnplannedFailover(self.there, at, "gone", HOLDER).run(world.ports())
        else:
            Failover(self.there, HOLDER, wait=lambda seconds: None).run(world.ports())

    @property
    def lease(self) -> InMemoryLease:
        return self.back_lease

    def ports(self) -> WritePorts:
        """Return the ports of the reverse policy."""
        world = self.world
        return WritePorts(
            source=world.replica,
            replica=world.source,
            source_files=world.replica_files,
            replica_files=world.source_files,
            dump_files=world.replica_files,
            lease=self.back_lease,
            source_marker=MetastoreMarker(world.replica),
            trees=TreePorts(world.replica_files, world.source_files, self.back_lease, world.replica_files),
        )

    def go_on(self, policy: Policy, ports: Callable[[], WritePorts]) -> None:
        """Do what the lines say: let the policy go on; follow to the end, and prove both sides equal."""
        Unpause(policy).run(ports())
        for _ in range(20):
            if run_phase(INCREMENTAL, policy, ports(), {"run": "i"}, lambda line: None)["window"].idle:
                break
        found = Verify(Work(policy, holder=HOLDER), deep=True).run(ports())
        assert found.is_equal, found.lines()

    def fail_back(self) -> None:
        Failback(BACK, HOLDER).run(self.ports())
        self.go_on(BACK, self.ports)


def files_of(switched: Switched) -> dict[str, int]:
    files = switched.world.source_files
    paths = [path for path in files.paths() if "/warehouse/" in path and "__diverged_" not in path]
    return {path: files.status(path).file_id for path in paths}


def change_west(switched: Switched) -> None:
    switched.west.insert("plain", None, [b"west's rows"])
    switched.west.create_table("new", files=[b"n"])
    switched.west.add_partitions("orders", {("later",): [b"l"]})


@pytest.mark.parametrize("loses", [False, True])
def test_the_old_primary_becomes_an_equal_replica(loses: bool) -> None:
    switched = Switched(loses=loses)
    change_west(switched)
    switched.fail_back()
    said = switched.world.source.database("sales").parameters
    assert (said[POLICY], said[PHASE]) == ("sales_back", "following")
    switched.west.overwrite("plain", None, {"o": b"later"})
    switched.go_on(BACK, switched.ports)


def kept(switched: Switched) -> dict[tuple[str, str], list[bytes]]:
    """Return the rows that are kept of the old primary, by table and partition, as its metastore and files say."""
    east, files = switched.world.source, switched.world.source_files
    found: dict[tuple[str, str], list[bytes]] = {}
    for database in east.database_names():
        if "__diverged_" not in database:
            continue
        for table in east.tables(database, east.table_names(database)):
            assert table.kind is TableKind.EXTERNAL and not table.purges
            places = [("", table.location or "")]
            if table.partition_keys:
                parts = east.partitions(table.name, east.partition_names(table.name))
                places = [(one.name(table.partition_keys), one.location or "") for one in parts]
            for leaf, place in places:
                [(_, children)] = files.list_directories([place])
                found[table.name.table, leaf] = [files.read(one.path) for one in children or ()]
    return found


def silent(switched: Switched) -> None:
    switched.world.source_files.put(f"{switched.east.location('plain')}/silent", b"no event")


def log_is_gone(switched: Switched) -> None:
    """Let the old primary's log begin after the failover."""
    switched.east.insert("plain", None, [b"by an event that is gone"])
    switched.world.source._log.rows.clear()


@pytest.mark.parametrize(
    ("diverge", "expected"),
    [
        (lambda one: None, {}),
        (silent, {("plain", ""): [b"no event"]}),
        (log_is_gone, {("plain", ""): [b"by an event that is gone"]}),
        (lambda one: one.east.add_partitions("orders", {("mine",): [b"m"]}), {("orders", "p=mine"): [b"m"]}),
        (lambda one: one.east.create_table("made", files=[b"one", b"two"]), {("made", ""): [b"one", b"two"]}),
        (lambda one: one.east.drop_table("plain"), {}),
    ],
    ids=["nothing", "silent", "log expired", "partition", "table", "dropped"],
)
def test_what_only_the_old_primary_has_is_kept_and_can_be_queried(
    diverge: Callable[[Switched], object], expected: dict[tuple[str, str], list[bytes]]
) -> None:
    switched = Switched()
    diverge(switched)
    told = "\n".join(Failback(BACK, HOLDER).plan(switched.ports()))
    assert all(f"only east/sales has: {table}" in told for table, _ in expected)
    switched.fail_back()
    assert kept(switched) == expected


def test_what_users_of_the_new_primary_took_away_is_no_divergence() -> None:
    switched = Switched()
    switched.west.drop_partitions("orders", [("a b",)])
    switched.west.overwrite("plain", None, {"o": b"other"})
    switched.fail_back()
    assert kept(switched) == {}


def test_a_database_of_somebody_else_in_the_place_of_what_is_kept_is_refused() -> None:
    switched = Switched(loses=True)
    SourceWriter.with_database(switched.world.source, switched.world.source_files, "sales__diverged_8")
    with pytest.raises(Foreign, match="somebody else's"):
        Failback(BACK, HOLDER).run(switched.ports())
    assert PHASE not in switched.world.source.database("sales").parameters


def test_a_fenced_old_primary_is_opened_for_what_replicates_into_it() -> None:
    switched = Switched()
    home, files = "hdfs://east/warehouse/managed/sales.db", switched.world.source_files
    note = FenceNote("t1", FenceRules((QUOTA,)), {home: None})
    switched.world.replica_files.write("hdfs://west/note.json", note.written())
    MetastoreMarker(switched.world.source).fence("sales", str(FenceMark("sales", "t1", 5, "hdfs://west/note.json")))
    files.set_name_quota(home, 1)
    change_west(switched)
    switched.fail_back()
    assert files.name_quota(home) is None
    assert FENCED not in switched.world.source.database("sales").parameters


def sets_of(metastore: Any) -> dict[str, str | None]:
    """Return the sets that count, with their tokens."""
    listed = SetsOfDatabase(metastore, "sales", keep="forever").read()
    return {one.mark.spec: one.mark.token for one in listed if one.standing is SetStanding.DONE}


@pytest.mark.parametrize("loses", [False, True])
def test_sets_follow_the_new_primary_and_none_stays_that_only_the_old_one_knows(loses: bool) -> None:
    orders = TableName("sales", "orders")
    switched = Switched(loses=loses, marks=True)
    east, west = switched.world.source, switched.world.replica
    # What east has marked after the event that west has reached is lost with its data.
    assert sets_of(east) == {"p=1": "before", "p=a b": "before", **({"p=late": "lost"} if loses else {})}
    assert sets_of(west) == {"p=1": "before", "p=a b": "before"}
    MarkSet(orders, "*", "west's").run(west)
    UnmarkSet(orders, "p=1").run(west)
    switched.fail_back()
    assert sets_of(east) == sets_of(west) == {"p=a b": "before", "*": "west's"}
    UnmarkSet(orders, "p=a b").run(west)
    switched.go_on(BACK, switched.ports)
    assert sets_of(east) == {"*": "west's"}


def test_what_is_equal_stays_as_it_is() -> None:
    switched = Switched()
    before = files_of(switched)
    switched.west.insert("plain", None, [b"west's rows"])
    switched.fail_back()
    after = files_of(switched)
    assert {path: after.get(path) for path in before if "/orders" in path} == {
        path: number for path, number in before.items() if "/orders" in path
    }


def test_nothing_is_changed_before_people_have_looked() -> None:
    switched = Switched(loses=True)
    before = files_of(switched)
    lines = Failback(BACK, HOLDER).run(switched.ports())
    assert any("--all --dry-run" in line for line in lines)
    found = run_phase(INCREMENTAL, BACK, switched.ports(), {"run": "i"}, lambda line: None)["window"]
    assert "look at what differs" in str(found.already)
    assert files_of(switched) == before
    assert Failback(BACK, HOLDER).run(switched.ports()) == lines[2:] == Failback(BACK, HOLDER).plan(switched.ports())


def test_killed_at_any_change_a_rerun_ends_alike() -> None:
    switched = Switched(loses=True)
    change_west(switched)

    def act(world: Any, switch: Any) -> None:
        Failback(BACK, HOLDER).run(killable(world.ports(), switch))

    for left in left_by_kills(lambda: switched, act):
        left.fail_back()
        assert kept(left) == {("plain", ""): [b"never seen in west"]}


def test_a_primary_is_never_made_a_replica_by_clearing_what_was_done_before() -> None:
    switched = Switched()
    switched.fail_back()
    Failover(BACK, HOLDER, wait=lambda seconds: None).run(switched.ports())
    switched.east.insert("plain", None, [b"east is the primary"])
    before = dict(switched.world.source.database("sales").parameters)
    for act in (Failback(BACK, HOLDER).plan, Failback(BACK, HOLDER).keep, Failback(BACK, HOLDER).run):
        with pytest.raises(Promoted, match="east/sales is the primary"):
            act(switched.ports())
    assert dict(switched.world.source.database("sales").parameters) == before


def test_there_and_back_and_there_again() -> None:
    switched = Switched()
    for number in range(2):
        switched.west.insert("plain", None, [f"west {number}".encode()])
        switched.fail_back()
        Failover(BACK, HOLDER, wait=lambda seconds: None).run(switched.ports())
        with pytest.raises(Promoted):
            run_phase(INCREMENTAL, BACK, switched.ports(), {"run": "i"}, lambda line: None)
        switched.east.insert("plain", None, [f"east {number}".encode()])
        Failback(switched.there, HOLDER).run(switched.world.ports())
        switched.go_on(switched.there, switched.world.ports)
        assert PROMOTED not in switched.world.replica.database("sales").parameters
        Failover(switched.there, HOLDER, wait=lambda seconds: None).run(switched.world.ports())
        assert Promotion.read(switched.world.replica.database("sales").parameters) is not None


def other_database(switched: Switched) -> Policy:
    SourceWriter.with_database(switched.world.source, switched.world.source_files, "precious")
    return replace(BACK, replica=DatabaseAddress("east", "precious"))


def of_another_policy(switched: Switched) -> Policy:
    parameters = switched.world.source.database("sales").parameters
    switched.world.source.set_database_parameters("sales", {**parameters, POLICY: "other", PHASE: "following"})
    return BACK


def never_failed_over(switched: Switched) -> Policy:
    parameters = dict(switched.world.replica.database("sales").parameters)
    del parameters[PROMOTED]
    switched.world.replica.set_database_parameters("sales", parameters)
    return BACK


def without_the_old_primary(switched: Switched) -> Policy:
    MetastoreMarker(switched.world.source).unmark("sales", "sales")
    switched.world.source.drop_database("sales")
    return BACK


@pytest.mark.parametrize(
    ("spoil", "error", "says"),
    [
        (other_database, Foreign, "is not what west/sales has taken over from"),
        (of_another_policy, Foreign, "belongs to another policy"),
        (never_failed_over, ActNow, "has not taken over"),
        (without_the_old_primary, Missing, "is not there any more"),
        (lambda _: replace(BACK, source=DatabaseAddress("west", "nowhere")), Missing, "no source database"),
        (lambda _: replace(BACK, external=an_external()), Refused, "would not bring external tables back"),
    ],
)
def test_what_was_not_failed_over_from_is_not_touched(
    spoil: Callable[[Switched], Policy], error: type[Exception], says: str
) -> None:
    switched = Switched()
    policy = spoil(switched)

    def said() -> dict[str, Any]:
        found = {name: switched.world.source.database(name) for name in ("sales", "precious")}
        return {name: dict(one.parameters) for name, one in found.items() if one}

    before = said()
    for act in (Failback(policy, HOLDER).plan, Failback(policy, HOLDER).run):
        with pytest.raises(error, match=says):
            act(switched.ports())
    assert said() == before


def test_the_sides_are_those_of_the_reverse_policy() -> None:
    switched = Switched()
    assert [unproved(side.metastore) for side in sides_of(switched.ports(), BACK)] == [
        switched.world.replica,
        switched.world.source,
    ]
    assert Phase(switched.world.replica.database("sales").parameters[PHASE]) is Phase.PROMOTED
