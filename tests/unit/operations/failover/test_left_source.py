"""Of several replicas of one source one takes over: the others find it said there, and so does who comes back."""

import threading

import pytest

from tests.support.builders import a_policy
from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hdfs.fake_lease import InMemoryLease
from tests.support.hive.fake_metastore import InMemoryMetastore
from tests.support.worlds.fake_world import SOURCE_ADDRESS
from tests.unit.operations.failover.test_failback import BACK, Switched
from tests.unit.operations.failover.test_failover import HOLDER, parameters, planned, ready, unplanned
from tests.unit.operations.failover.test_fence import Fenced
from tests.unit.operations.failover.test_readiness import READY
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.errors import Promoted, Refused, TwinhiveError, Unreachable
from twinhive.core.model.failover.fence import FENCED, QUOTA, FenceMark
from twinhive.core.model.failover.left_mark import LEFT_FOR, LeftMark
from twinhive.core.model.marks import PHASE
from twinhive.core.model.policy import DatabaseAddress
from twinhive.core.model.text import render
from twinhive.core.ports import TreePorts, WritePorts
from twinhive.hive.adapters.hive.hive_source_marker import MetastoreMarker
from twinhive.operations.failover.failback import Failback
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.fence.fence_removal import AbortFailover
from twinhive.operations.failover.forget import Forget
from twinhive.operations.failover.readiness import readiness
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_bootstrap, run_phase

NORTH = a_policy(
    name="sales_n",
    replica=DatabaseAddress("north", "sales"),
    dump_root="hdfs://east/twinhive/dumps_n",
    staging_root="hdfs://north/twinhive/staging",
)
WAREHOUSE = {"metastore.warehouse.dir": "hdfs://north/warehouse/managed", "metastore.repl.cmrootdir": "/cmroot"}


class Hub:
    """One source with two replicas: west, of the policy `sales`, and north, of `sales_n`."""

    def __init__(self, followed: Followed | None = None) -> None:
        self.followed = followed or ready(Followed())
        self.files, self.lease = InMemoryFiles("hdfs://north"), InMemoryLease()
        self.north = InMemoryMetastore(
            file_system="hdfs://north", log_id="log-north", addresses=["north:9083"], files=self.files
        )
        self.north.configurations["north:9083"] |= READY | WAREHOUSE
        run_bootstrap(NORTH, self.ports(), {"run": "b"}, lambda line: None)

    def ports(self) -> WritePorts:
        """Return those of the policy `sales_n`."""
        world, files = self.followed.world, self.files
        return WritePorts(
            source=world.source,
            replica=self.north,
            source_files=world.source_files,
            replica_files=files,
            dump_files=world.source_files,
            lease=self.lease,
            source_marker=MetastoreMarker(world.source),
            trees=TreePorts(world.source_files, files, self.lease, world.source_files),
        )

    def follow(self) -> None:
        for _ in range(20):
            if run_phase(INCREMENTAL, NORTH, self.ports(), {"run": "i"}, lambda line: None)["window"].idle:
                return

    @property
    def phase(self) -> str:
        return self.north.database("sales").parameters[PHASE]

    @property
    def at_source(self) -> dict[str, str]:
        return dict(self.followed.world.source.database("sales").parameters)

    def failovers(self) -> tuple[Failover, UnplannedFailover]:
        at = int(self.north.database("sales").parameters["repl.last.id"])
        return Failover(NORTH, HOLDER, wait=lambda _: None), UnplannedFailover(NORTH, at, "east is gone", HOLDER)

    def assert_refused(self, why: str) -> None:
        for failover in self.failovers():
            with pytest.raises(TwinhiveError, match=why):
                failover.run(self.ports())
            assert any("in the way" in line and why in line for line in failover.plan(self.ports()))
        assert self.phase == "following"


@pytest.mark.parametrize("is_planned", [True, False])
def test_where_one_replica_has_taken_over_no_other_does(is_planned: bool) -> None:
    hub = Hub()
    hub.followed.follow()
    way = planned(hub.followed) if is_planned else unplanned(hub.followed)
    way.run(hub.followed.world.ports())
    assert LeftMark.read(hub.at_source) == LeftMark("sales", "west/sales")
    hub.follow()
    hub.assert_refused("another replica has taken over from east/sales")


def test_the_last_look_asks_the_source_also_where_it_was_ready_before() -> None:
    hub = Hub()
    hub.follow()
    failover, ports = Failover(NORTH, HOLDER, wait=lambda _: None), hub.ports()
    failover.fence(ports)
    quiet = failover.prove_quiet(ports)
    _, compared = failover.prove_equal(ports, quiet)
    marker = MetastoreMarker(hub.followed.world.source)
    marker.leave("sales", LeftMark("sales", "west/sales"))
    hub.followed.world.source._log.rows.pop()  # the mark is told by an event, of which this is not about
    hub.followed.world.source._log.last_event_id -= 1
    with pytest.raises(Refused, match="another replica has taken over"):
        failover.promote(ports, quiet, compared)
    assert hub.phase == "following"


def test_no_replica_takes_over_from_a_replica_and_who_fails_back_reads_whom_that_concerns() -> None:
    hub = Hub()
    switched = switched_of(hub)
    told = "\n".join(Failback(BACK, HOLDER).plan(switched.ports()))
    assert "also replicated from east/sales: sales_n" in told
    lines = Failback(BACK, HOLDER).run(switched.ports())
    assert any("also replicated from east/sales: sales_n" in line for line in lines)
    assert LEFT_FOR not in hub.at_source
    hub.assert_refused("east/sales is itself a replica")


def switched_of(hub: Hub) -> Switched:
    """Return the two clusters east and west, of which west has taken over."""
    hub.followed.follow()
    planned(hub.followed).run(hub.followed.world.ports())
    switched = Switched.__new__(Switched)
    switched.there, switched.world, switched.back_lease, switched.log = (
        hub.followed.policy,
        hub.followed.world,
        InMemoryLease(),
        [],
    )
    hub.followed.world.source.configurations[SOURCE_ADDRESS] |= READY | {
        "metastore.warehouse.dir": "hdfs://east/warehouse/managed"
    }
    hub.followed.world.replica.configurations["west-metastore:9083"] |= {"metastore.repl.cmrootdir": "/cmroot"}
    return switched


def test_other_replicas_of_the_source_are_told_before() -> None:
    hub = Hub()
    told = "\n".join(render(line) for line in readiness(hub.ports(), NORTH).told)
    assert "also replicated from east/sales: sales;" in told


def test_while_another_failover_keeps_writers_away_none_takes_over() -> None:
    hub = Hub()
    fence = FenceMark("sales", "t", 5, "hdfs://west/note")
    MetastoreMarker(hub.followed.world.source).fence("sales", str(fence))
    hub.follow()
    hub.assert_refused("another failover of east/sales is under way")
    assert FENCED in hub.at_source


def refused(hub: Hub) -> str:
    """Return the next step that a refused failover to north offers."""
    with pytest.raises(TwinhiveError) as caught:
        hub.failovers()[0].run(hub.ports())
    return render(caught.value.words.next_step or "")


def test_a_source_that_was_left_for_good_is_taken_over_as_its_error_says() -> None:
    hub = Hub()
    hub.followed.follow()
    unplanned(hub.followed).run(hub.followed.world.ports())
    source = hub.followed.world.source
    hub.follow()
    _, _, statement = refused(hub).partition("ALTER DATABASE sales SET DBPROPERTIES ('")
    assert statement.startswith(f"{LEFT_FOR}'='') on east, then the failover again")
    source.set_database_parameters("sales", {**hub.at_source, LEFT_FOR: ""})
    hub.follow()
    hub.failovers()[0].run(hub.ports())
    assert hub.phase == "promoted"


@pytest.mark.parametrize("why", ["left", "a replica"])
def test_the_policy_of_a_source_that_is_none_any_more_is_ended_as_its_error_says(why: str) -> None:
    hub = Hub()
    if why == "left":
        hub.followed.follow()
        planned(hub.followed).run(hub.followed.world.ports())
    else:
        Failback(BACK, HOLDER).run(switched_of(hub).ports())
    hub.follow()
    there = hub.north.table_names("sales")
    assert "twinhive forget sales_n" in refused(hub)
    Forget(NORTH, HOLDER).run(hub.ports())
    assert PHASE not in hub.north.database("sales").parameters
    assert hub.north.table_names("sales") == there


def test_another_failover_is_given_up_as_the_error_says() -> None:
    fenced = Fenced(QUOTA)
    hub = Hub(fenced)
    fenced.follow()
    fenced.failover().fence(fenced.world.ports())
    hub.follow()
    assert refused(hub).endswith("twinhive failover sales --abort")
    fenced.abort().run(fenced.world.ports())
    hub.follow()
    hub.failovers()[0].run(hub.ports())
    assert hub.phase == "promoted"


def test_what_is_offered_instead_of_an_abort_that_is_too_late_can_be_planned() -> None:
    switched = switched_of(Hub())
    with pytest.raises(Promoted) as caught:
        AbortFailover(switched.there, HOLDER).run(switched.world.ports())
    assert "twinhive failback sales_back --dry-run" in render(caught.value.words.next_step or "")
    assert BACK.name == "sales_back" and Failback(BACK, HOLDER).plan(switched.ports())


def gone(*_: object, **__: object) -> object:
    raise Unreachable("the source does not answer")


def test_a_source_that_does_not_answer_is_told_by_the_same_command_later(monkeypatch: pytest.MonkeyPatch) -> None:
    followed = ready(Followed())
    source = followed.world.source
    with monkeypatch.context() as silenced:
        silenced.setattr(source, "database", gone)
        lines = unplanned(followed).run(followed.world.ports())
    assert any("not said at east/sales" in line and "twinhive failover sales" in line for line in lines)
    assert parameters(followed)[PHASE] == "promoted" and LEFT_FOR not in source.database("sales").parameters
    lines = planned(followed).run(followed.world.ports())
    assert not any("not said" in line for line in lines)
    assert source.database("sales").parameters[LEFT_FOR] == "sales:west/sales"
    newest = source.current_event_id()
    planned(followed).run(followed.world.ports())
    assert source.current_event_id() == newest, "it is said once"


def test_a_source_that_hangs_does_not_keep_a_replica_from_taking_over(monkeypatch: pytest.MonkeyPatch) -> None:
    followed, released = ready(Followed()), threading.Event()
    monkeypatch.setattr("twinhive.operations.failover.left_source._PATIENCE", 0.1)
    monkeypatch.setattr(followed.world.source, "database", lambda name: released.wait(30))
    try:
        unplanned(followed).run(followed.world.ports())
    finally:
        released.set()
    assert parameters(followed)[PHASE] == "promoted"


def test_who_took_over_twice_is_told_and_the_first_mark_stays() -> None:
    followed = ready(Followed())
    source = followed.world.source
    unplanned(followed).run(followed.world.ports())
    found = dict(source.database("sales").parameters)
    source.set_database_parameters("sales", {**found, LEFT_FOR: "sales_n:north/sales"})
    lines = planned(followed).run(followed.world.ports())
    assert any("two replicas have taken over" in line for line in lines)
    assert source.database("sales").parameters[LEFT_FOR] == "sales_n:north/sales"


def test_after_a_failback_nobody_says_any_more_that_the_new_primary_was_left() -> None:
    switched = Switched()
    ports = switched.world.ports()
    switched.fail_back()
    planned_there = Failover(switched.there, HOLDER, wait=lambda _: None)
    planned_there.run(ports)
    assert LEFT_FOR not in switched.world.source.database("sales").parameters, "it is a replica"
    Failover(BACK, HOLDER, wait=lambda _: None).run(switched.ports())
    assert switched.world.replica.database("sales").parameters[LEFT_FOR] == "sales_back:east/sales"
    planned_there.run(ports)
    assert LEFT_FOR not in switched.world.source.database("sales").parameters, "it is the primary again"


def test_forgetting_the_policy_and_replicating_anew_take_the_mark_away() -> None:
    followed = ready(Followed())
    marker = MetastoreMarker(followed.world.source)
    planned(followed).run(followed.world.ports())
    Forget(followed.policy, HOLDER).run(followed.world.ports())
    assert LEFT_FOR not in followed.world.source.database("sales").parameters
    marker.leave("sales", LeftMark("sales", "west/sales"))
    marker.mark("sales", "sales_n")
    assert LEFT_FOR in followed.world.source.database("sales").parameters, "it is another policy's"
    marker.mark("sales", "sales")
    assert LEFT_FOR not in followed.world.source.database("sales").parameters
    with pytest.raises(Refused, match="two replicas"):
        marker.leave("sales", LeftMark("sales", "west/sales"))
        marker.leave("sales", LeftMark("sales_n", "north/sales"))
