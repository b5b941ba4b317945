"""What dry runs of loads, scans and passes say is what the runs then do, over random histories."""

from random import Random
from typing import Any

import pytest

from tests.checker.faults import Plan
from tests.checker.memory_histories import Drill, Settings
from tests.support.worlds.external_world import ExternalWorld, a_world_with_files
from tests.support.worlds.fake_world import tuned
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.scan.test_scan import put, scan
from tests.unit.runtime.dry_run.test_plan_is_the_run import SEEDS
from tests.unit.runtime.dry_run.test_rehearsal import untouchable
from twinhive.core.model.errors import AlreadyThere, Missing, TryAgain
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.ports import WritePorts
from twinhive.replication.bootstrap.load import Loaded
from twinhive.runtime.dry_run.phase_plan import PhasePlan
from twinhive.runtime.dry_run.rehearsal import rehearse
from twinhive.runtime.pipeline.phases import BOOTSTRAP, CONSOLIDATE


def counts(plan: PhasePlan) -> dict[str, int]:
    """Return how many of what is planned, by what is done with them."""
    return {f"{section.verb} {section.what}": section.count for section in plan.sections}


class PlannedLoads(Drill):
    """Replicate a random history; what would be loaded is planned before it is, at first of a dump not yet made."""

    loads = 0

    def _run_phases(self, ports: WritePorts) -> dict[str, Any]:
        if ReplicaState.read(self.viewer.parameters()).phase is Phase.FOLLOWING:
            return super()._run_phases(ports)
        quiet = self.ports(Plan(), quiet=True)
        plan, is_first = self._plan_of("bootstrap", quiet), not self._is_listed
        if not self._is_listed:
            self._run(BOOTSTRAP, quiet)
            self._is_listed = True
            if self.random.random() < 0.5:
                return {}  # users go on, so that a round has something to fold
        else:
            plan = self._plan_of("consolidate", quiet)
        results = self._run(CONSOLIDATE, quiet)
        if "load" in results:
            self._compare(plan, results["load"], is_first=is_first)
        return results

    def _plan_of(self, phase: str, quiet: WritePorts) -> PhasePlan:
        return rehearse(phase, untouchable(quiet), self.policy)

    def _compare(self, plan: PhasePlan, loaded: Loaded, *, is_first: bool) -> None:
        said = counts(plan)
        found = self.viewer.state()
        assert not plan.refused, self.story(str(plan.refusals))
        assert (plan.tables, plan.partitions) == (loaded.tables, loaded.partitions), self.story(plan.verdict)
        assert said.get("create tables", 0) + said.get("create views", 0) == len(found.tables), self.story(plan.verdict)
        if is_first:
            assert (plan.files, plan.bytes) == (loaded.files, loaded.bytes), self.story(plan.verdict)
        self.loads += 1


@pytest.mark.thorough
@pytest.mark.parametrize("settings", [{}, {"odd": True}, {"keys": True}], ids=str)
def test_what_a_load_is_planned_to_bring_is_what_it_brings(settings: dict[str, Any]) -> None:
    loads = 0
    for seed in SEEDS:
        drill = PlannedLoads(seed, Settings(faults=0, **settings))
        drill.run()
        drill.assert_end()
        loads += drill.loads
    assert loads >= len(SEEDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_scan_is_planned_to_bring_over_and_to_remove_is_what_it_does(seed: int) -> None:
    chance, followed = Random(seed), Followed(tuned(settle_seconds=0, grace_seconds=0))
    scan(followed)
    followed_up = swept = 0
    for number in range(12):
        act_silently(followed, chance, number)
        plan = rehearse("scan", untouchable(followed.world.ports()), followed.policy)
        before = directories(followed)
        found = scan(followed)
        said = {section.verb: section for section in plan.sections}
        names = said["copy"].names if "copy" in said else ()
        assert sorted(names) == sorted(found.followed), f"seed {seed}, {number}"
        assert (plan.files, plan.bytes) == (found.files, found.bytes), f"seed {seed}, {number}"
        gone = before - directories(followed)
        assert set(said["remove"].names if "remove" in said else ()) == gone, f"seed {seed}, {number}"
        followed_up, swept = followed_up + len(found.followed), swept + len(gone)
    assert followed_up and swept


def act_silently(followed: Followed, chance: Random, number: int) -> None:
    """Write something that events tell, something that none tells, or nothing."""
    for _ in range(chance.randrange(3)):
        put(followed, "plain", f"part-{number}-{chance.randrange(3)}", b"s" * number)
    if number == 2:
        put(followed, "plain", "always", b"s")
    if number == 4 or chance.random() < 0.4:
        followed.users.overwrite("plain", None, {f"data-{number}": b"other"})
        followed.follow()
    if chance.random() < 0.4:
        put(followed, "orders", f"part-{number}", b"o", ("a b",))


def directories(followed: Followed) -> set[str]:
    """Return the directories of contents on the replica."""
    files = followed.world.replica_files
    ((_, found),) = files.list_directories(["hdfs://west/warehouse/managed/sales.db"])
    return {one.path for one in found or () if one.is_directory}


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_pass_is_planned_to_copy_and_to_delete_is_what_it_does(seed: int) -> None:
    chance, world = Random(seed), a_world_with_files()
    world.check()
    copied = deleted = 0
    for number in range(15):
        act_below(world, chance, number)
        plan = rehearse("external", untouchable(world.ports()), world.policy)
        before = files_of(world)
        try:
            synced = world.cycle()
        except TryAgain as error:  # a directory that was emptied
            assert [refusal.what for refusal in plan.refusals] == [error.what], f"seed {seed}, {number}"
            refill(world)
            continue
        assert not plan.refused, f"seed {seed}, {number}"
        assert plan.files == sum(one.files for one in synced), f"seed {seed}, {number}"
        assert plan.bytes == sum(one.bytes for one in synced), f"seed {seed}, {number}"
        gone = sum(section.files for section in plan.sections if section.verb == "delete")
        assert gone == len(before - files_of(world)), f"seed {seed}, {number}"
        assert bool(plan.nothing) == (not any(one.changed for one in synced)), f"seed {seed}, {number}"
        copied, deleted = copied + plan.files, deleted + gone
    assert copied and deleted


def act_below(world: ExternalWorld, chance: Random, number: int) -> None:
    """Write, write over, delete and rename files of the source's external tables; add a table."""
    files = world.world.source_files
    for _ in range(chance.randrange(4)):
        path = f"/data/events/{chance.choice(['', 'day=1/', 'day=2/'])}{chance.choice('fgh')}"
        world.put(path, b"x" * chance.randrange(5))
    if number == 3:
        world.put("/data/events/always", b"x")
    there = sorted(path for path in files.paths() if "/data/" in path)
    if number == 5:
        files.delete_file("hdfs://east/data/events/always")
    elif there and chance.random() < 0.5:
        files.delete_file(chance.choice(there))
    if chance.random() < 0.2:
        try:
            world.add_table(f"t{number}", f"hdfs://east/data/t{number}")
            world.put(f"/data/t{number}/f", b"new")
        except (AlreadyThere, Missing):
            return


def refill(world: ExternalWorld) -> None:
    """Write a file below each directory of the source that has none, as its users do after they have emptied it."""
    files = world.world.source_files
    for table in world.world.source.tables("sales", world.world.source.table_names("sales")):
        if not any(path.startswith(f"{table.location}/") for path in files.paths()):
            files.put(f"{table.location}/f", b"again")


def files_of(world: ExternalWorld) -> set[str]:
    return {path for path in world.world.replica_files.paths() if "/ext/data/" in path and ".twinhive" not in path}
