"""Each change of a metastore under a policy's lease comes after a proof of the lease; known exceptions do not grow."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.kept_counts import grown
from tests.support.unproved_writes import WRITES, ProofWatch
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.copies import copies_of
from tests.support.worlds.fake_world import a_world, tuned
from tests.support.worlds.repl_world import ReplWorld
from tests.unit.federation.placement import test_copies, test_move_primary, test_retire
from tests.unit.operations.actions.test_operations import followed_by, insert_and_lose, resync
from tests.unit.operations.failover import test_adopt, test_failback, test_failback_external
from tests.unit.operations.failover.test_failover import HOLDER, parameters, planned, ready, unplanned
from tests.unit.operations.failover.test_fence import Fenced
from tests.unit.publishing.set_visibility.test_shown_sets import Producer
from tests.unit.replication.external_tables import test_external_incremental
from tests.unit.replication.incremental import test_details_killed, test_incremental
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.incremental.test_repair import DAMAGES
from tests.unit.replication.incremental.test_resync_everything import ask, with_a_gap
from tests.unit.replication.scan.test_scan import put, scan
from tests.unit.replication.verify.verifying import Verifying
from twinhive.core.model.failover.fence import QUOTA
from twinhive.core.model.marks import PHASE, POLICY
from twinhive.operations.actions.repair import Repair
from twinhive.operations.failover.adopt import SEED, Adopt
from twinhive.operations.failover.failback import Failback
from twinhive.operations.failover.forget import Forget

NOT_BY_EVENTS = {"create_database", "mark", "unmark", "fence", "leave"}


def watched(world: Any, watch: ProofWatch) -> Any:
    """Return a world, or what is built around one; all ports that it hands out from now on are watched."""
    watch.over(getattr(world, "world", world))
    return world


def bootstrap(watch: ProofWatch) -> None:
    world = a_world()
    users = SourceWriter(world.source, world.source_files, "sales")
    users.create_function("f", [])
    users.add_constraint("plain", "primary_key", "pk")
    Followed(world=watched(world, watch)).assert_twin()


def database_altered(users: SourceWriter) -> None:
    database = users.metastore.database("sales")
    users.metastore.alter_database(replace(database, owner="bob"))


def incremental(watch: ProofWatch) -> None:
    begin = copies_of(Followed())
    for history in (*test_incremental.HISTORIES, *test_details_killed.HISTORIES, database_altered):
        followed = watched(begin(), watch)
        history(followed.users)
        followed.follow()
    assert watch.writes.keys() == WRITES - NOT_BY_EVENTS


def external_tables(watch: ProofWatch) -> None:
    begin = copies_of(test_external_incremental.with_tables())
    for history in test_external_incremental.HISTORIES:
        followed = watched(begin(), watch)
        history(followed.users)
        followed.settle()
        assert not followed.pending


def scan_for_silent_writes(watch: ProofWatch) -> None:
    followed = Followed()
    scan(followed)
    put(followed, "plain", "part-1", b"silent")
    put(followed, "orders", "part-1", b"silent", ("a b",))
    assert len(scan(watched(followed, watch)).followed) == 2


def shown_sets(watch: ProofWatch) -> None:
    producer = watched(Producer(), watch)
    producer.mark("p=a b")
    producer.mark("*", "plain")
    producer.follow()
    # One that is new, one that is marked again, and one that is gone.
    producer.mark("p=a b", token="again")
    producer.mark("*", "empty")
    producer.unmark("*", "plain")
    producer.follow()
    assert producer.shown == ["empty *", "orders p=a b"]


def copies_of_a_placement(watch: ProofWatch) -> None:
    world = watched(test_copies.a_world(), watch)
    world.settle()
    for change in test_copies.CHANGES.values():
        copied = test_copies.a_world()
        copied.settle()
        change(watched(copied, watch).users)
        copied.settle()
    assert watch.writes.keys() == {"create_table", "add_partitions", "alter_partitions", "drop_partitions"}


def moved_primary(watch: ProofWatch) -> None:
    world = watched(test_move_primary.a_world(), watch)
    for table in ("orders", "plain"):
        test_move_primary.move(world, table)
        assert world.users.location(table).startswith(test_move_primary.HOME)


def retired_placement(watch: ProofWatch) -> None:
    world = watched(test_retire.a_world(), watch)
    test_retire.retire(world)
    test_retire.assert_gone(world)


def planned_failover(watch: ProofWatch) -> None:
    followed = watched(ready(Followed()), watch)
    planned(followed).run(followed.world.ports())
    assert parameters(followed)[PHASE] == "promoted"


def unplanned_failover(watch: ProofWatch) -> None:
    followed = watched(ready(Followed()), watch)
    unplanned(followed).run(followed.world.ports())
    assert parameters(followed)[PHASE] == "promoted"


def fenced_failover_and_its_abort(watch: ProofWatch) -> None:
    for ends in (lambda one: one.failover(), lambda one: one.abort()):
        fenced = watched(Fenced(QUOTA), watch)
        fenced.users.insert("plain", None, [b"just before"])
        fenced.failover().fence(fenced.world.ports())
        ends(fenced).run(fenced.world.ports())
    assert watch.writes["fence"] == 3


def failback_with_a_diverged_table(watch: ProofWatch) -> None:
    switched, policy = test_failback.Switched(), tuned(test_failback.BACK, partitions_per_call=2)
    switched.east.create_table("diverged", keys=("p",))
    switched.east.add_partitions("diverged", {(str(number),): [b"never seen in west"] for number in range(6)})
    test_failback.change_west(switched)
    watch.over(switched)
    Failback(policy, HOLDER).run(switched.ports())
    switched.go_on(policy, switched.ports)
    assert len(test_failback.kept(switched)) == 6


def failback_of_external_tables(watch: ProofWatch) -> None:
    switched = test_failback_external.SwitchedExternals()
    switched.world.source_files.put("hdfs://east/data/logs/mine", b"never seen in west")
    switched.west.create_external("made", location="hdfs://west/west's/made")
    watch.over(switched)
    switched.fail_back()
    assert set(test_failback.kept(switched)) == {("logs", "")}


def adopted_replica(watch: ProofWatch) -> None:
    world = watched(test_adopt.seeded(**{SEED: "sales"}), watch)
    Adopt(test_adopt.INSIDE, HOLDER).run(world.ports())
    test_adopt.follow(world)


def resync_of_a_table(watch: ProofWatch) -> None:
    followed = watched(followed_by(on_object_error="quarantine"), watch)
    insert_and_lose(followed)
    followed.follow()
    resync(followed, "plain")
    followed.follow()
    followed.assert_twin()


def resync_of_everything(watch: ProofWatch) -> None:
    followed = watched(Followed(), watch)
    followed.users.insert("plain", None, [b"more"])
    followed.users.rename_table("orders", "sold")
    ask(with_a_gap(followed))
    followed.follow()
    followed.assert_twin()


def repair_of_findings(watch: ProofWatch) -> None:
    for damage, _, _ in DAMAGES.values():
        verifying = Verifying()
        damage(verifying)
        watched(verifying, watch).findings()
        Repair(verifying.followed.policy, (), HOLDER).run(verifying.world.ports())
        verifying.followed.follow()
        assert verifying.verify().is_equal


def forgotten_replica(watch: ProofWatch) -> None:
    followed = watched(Followed(), watch)
    Forget(followed.policy, HOLDER).run(followed.world.ports())
    assert POLICY not in parameters(followed)


def loaded_dumps(watch: ProofWatch) -> None:
    repl = watched(ReplWorld(), watch)
    repl.load(repl.dump(), hive_places=True)
    repl.users.insert("plain", None, [b"more"])
    repl.users.add_partitions("orders", {("new",): [b"rows"]})
    repl.load(repl.dump(repl.status()), hive_places=True)
    assert repl.status() == repl.world.source.current_event_id()


RUNS = (
    *(bootstrap, incremental, external_tables, scan_for_silent_writes, shown_sets),
    *(copies_of_a_placement, moved_primary, retired_placement),
    *(planned_failover, unplanned_failover, fenced_failover_and_its_abort),
    *(failback_with_a_diverged_table, failback_of_external_tables, adopted_replica),
    *(resync_of_a_table, resync_of_everything, repair_of_findings, forgotten_replica, loaded_dumps),
)


@pytest.mark.parametrize("run", RUNS)
def test_no_write_is_made_without_a_proof_but_those_that_are_kept(run: Callable[[ProofWatch], None]) -> None:
    watch = ProofWatch()
    run(watch)
    assert watch.writes
    assert grown("proofs_of_the_lease", run.__name__, {"unproved": watch.unproved.total(), **watch.unproved}) == []
