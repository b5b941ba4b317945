"""A replica is seeded with a copy that others have made: nothing that is equal is copied again."""

from collections import Counter
from typing import Any

import pytest

from tests.support.builders import a_policy, a_table, an_external
from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.fake_world import World, a_world, killable
from twinhive.core.model.errors import Foreign, Missing, Refused
from twinhive.core.model.files import relative_to
from twinhive.core.model.marks import PHASE, POLICY
from twinhive.core.model.objects import Database, TableKind
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.pause import Unpause
from twinhive.operations.failover.adopt import SEED, Adopt
from twinhive.replication.verify.verify import Verify
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_phase

HOLDER = {"run": "terminal-1", "task": "adopt", "by": "ann"}
INSIDE = a_policy(external=an_external(included=False))
EAST, WEST = "hdfs://east", "hdfs://west"


def seeded(**parameters: str) -> World:
    """Return two clusters; DistCp has brought the files, and people have made the tables with Hive."""
    world = a_world()
    database = world.source.database("sales")
    assert database is not None
    said = {"team": "Zürich", **parameters}
    made = Database("sales", None, None, said, thrift="{}", comment=database.comment, owner=database.owner)
    world.replica.create_database(made)
    for table in world.source.tables("sales", world.source.table_names("sales")):
        if table.is_external:
            continue
        world.replica.create_table(table.at(table.name, table.location and table.location.replace(EAST, WEST)))
        some = world.source.partitions(table.name, world.source.partition_names(table.name))
        moved = [one.at(table.name, (one.location or "").replace(EAST, WEST)) for one in some]
        world.replica.add_partitions(moved)
        if table.kind is TableKind.MANAGED and table.location:
            for path in world.source_files.paths():
                is_file = path.startswith(table.location + "/") and not world.source_files.status(path).is_directory
                if is_file:
                    place = f"{WEST}/{relative_to(path, EAST)}"
                    world.replica_files.write(place, world.source_files.read(path))
    return world


def copied(world: World) -> Counter[str]:
    """Count the files that are read at the source from now on."""
    found: Counter[str] = Counter()
    original = world.source_files.open

    def opened(path: str, **given: Any) -> Any:
        found[path] += 1
        return original(path, **given)

    world.source_files.open = opened
    return found


def follow(world: World) -> None:
    Unpause(INSIDE).run(world.ports())
    for _ in range(10):
        if run_phase(INCREMENTAL, INSIDE, world.ports(), {"run": "i"}, lambda line: None)["window"].idle:
            break
    found = Verify(Work(INSIDE, holder=HOLDER), deep=True).run(world.ports())
    assert found.is_equal, found.lines()


def test_a_seeded_replica_follows_and_nothing_is_copied() -> None:
    world = seeded(**{SEED: "sales"})
    files = copied(world)
    assert any("would stamp" in line for line in Adopt(INSIDE, HOLDER).plan(world.ports()))
    lines = Adopt(INSIDE, HOLDER).run(world.ports())
    assert any("--all --dry-run" in line for line in lines)
    said = world.replica.database("sales").parameters
    assert (said[POLICY], said[PHASE], SEED in said) == ("sales", "following", False)
    assert Adopt(INSIDE, HOLDER).run(world.ports()) == lines[1:]
    follow(world)
    assert not files, "nothing of the files was to be copied"


def test_what_differs_is_brought_over_alone() -> None:
    world = seeded(**{SEED: "sales"})
    (path,) = [path for path in world.replica_files.paths() if path.endswith("/sub dir/f2")]
    world.replica_files.delete_file(path)
    world.replica.create_table(a_table("sales.only_here", location=f"{WEST}/warehouse/managed/sales.db/only_here"))
    files = copied(world)
    Adopt(INSIDE, HOLDER).run(world.ports())
    follow(world)
    assert {one.rpartition("/p=")[2].partition("/")[0] for one in files} == {"a b"}
    assert "only_here" not in world.replica.table_names("sales")


def test_killed_at_any_change_a_rerun_ends_alike() -> None:
    def act(world: World, switch: Any) -> None:
        Adopt(INSIDE, HOLDER).run(killable(world.ports(), switch))

    for left in left_by_kills(lambda: seeded(**{SEED: "sales"}), act):
        Adopt(INSIDE, HOLDER).run(left.ports())
        follow(left)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "SET DBPROPERTIES"),
        ({SEED: "other"}, "twinhive.seed = other"),
        ({POLICY: "other"}, "twinhive forget other"),
        ({POLICY: "sales", PHASE: "loading"}, "phase loading"),
    ],
)
def test_what_nobody_has_filled_for_this_policy_is_not_touched(parameters: dict[str, str], words: str) -> None:
    world = seeded(**parameters)
    before = dict(world.replica.database("sales").parameters), world.replica_files.paths()
    for act in (Adopt(INSIDE, HOLDER).plan, Adopt(INSIDE, HOLDER).run):
        with pytest.raises(Foreign, match=words):
            act(world.ports())
    assert (dict(world.replica.database("sales").parameters), world.replica_files.paths()) == before


def test_a_database_that_is_not_there_and_external_tables_are_refused() -> None:
    with pytest.raises(Missing, match=r"sales\.bootstrap"):
        Adopt(INSIDE, HOLDER).plan(a_world().ports())
    with pytest.raises(Refused, match="brings external tables"):
        Adopt(a_policy(external=an_external(included=True)), HOLDER).plan(seeded(**{SEED: "sales"}).ports())
