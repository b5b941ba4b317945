"""Damage of every kind is found, and the command that verify names mends it and touches nothing else."""

from collections.abc import Callable

import pytest

from tests.support.worlds.memory_comparison import contents
from tests.unit.replication.verify import test_verify as kinds
from tests.unit.replication.verify.test_verify import ORDERS, PLAIN, file_of, write
from tests.unit.replication.verify.verifying import Verifying
from twinhive.core.model.files import Attributes, join
from twinhive.core.model.marks import without_marks
from twinhive.core.model.names import TableName
from twinhive.operations.actions.repair import Repair
from twinhive.operations.actions.resync_all import ResyncEverything

HOLDER = {"by": "ann", "run": "r"}
Damage = Callable[[Verifying], None]


def flipped_with_its_time(v: Verifying) -> None:
    """Change a byte, and leave length and time as they were."""
    path = file_of(v, ORDERS, "p=a b", "f1")
    before = v.world.replica_files.status(path)
    assert before is not None
    write(v, path, b"eno")
    v.world.replica_files.set_attributes(path, Attributes(modified_ms=before.modified_ms))


def partition_moved(v: Verifying) -> None:
    """Let a partition look elsewhere, where the same names lie."""
    (there,) = v.world.replica.partitions(ORDERS, ["p=a b"])
    place = f"{there.location}.elsewhere"
    v.world.replica_files.put(f"{place}/f1", b"two")
    v.world.replica_files.put(f"{place}/sub dir/f2", b"two")
    v.world.replica.alter_partitions([there.at(ORDERS, place)])


def recreated(v: Verifying) -> None:
    """Drop a table and make one of its name, without marks or rows."""
    there = v.world.replica.table(PLAIN)
    v.world.replica.drop_table(PLAIN, delete_data=True)
    place = join(there.location.rpartition("/")[0], "plain")
    v.world.replica.create_table(there.at(PLAIN, place).with_parameters(without_marks(there.parameters)))


def recreated_without_partitions(v: Verifying) -> None:
    there = v.world.replica.table(ORDERS)
    v.world.replica.drop_table(ORDERS, delete_data=True)
    place = join(there.location.rpartition("/")[0], "orders")
    v.world.replica.create_table(there.at(ORDERS, place).with_parameters(without_marks(there.parameters)))


@pytest.mark.thorough
@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize(
    "damage",
    [
        kinds.flipped,
        flipped_with_its_time,
        kinds.added,
        kinds.removed,
        kinds.truncated,
        kinds.partition_missing,
        kinds.partition_extra,
        partition_moved,
        kinds.partition_parameter,
        kinds.column,
        kinds.parameter,
        kinds.constraint,
        kinds.view_text,
        kinds.table_missing,
        kinds.table_extra,
        kinds.database_parameter,
    ],
)
def test_what_is_found_is_mended_by_the_command_that_is_named(damage: Damage, deep: bool) -> None:
    verifying = Verifying()
    followed, world = verifying.followed, verifying.world
    assert verifying.verify(deep=deep).is_equal
    damage(verifying)
    verifying.verify(deep=deep)
    found = verifying.verify(deep=deep)
    assert found.found
    ids = {path: world.replica_files.status(path).file_id for path in world.replica_files.paths() if "/orders" in path}
    if found.tables_with_findings:
        Repair(followed.policy, (), HOLDER).run(world.ports())
    else:
        ResyncEverything(followed.policy, HOLDER).run(world.ports())
    followed.follow()
    assert verifying.verify(deep=True).is_equal
    assert contents(world.replica, world.replica_files) == contents(world.source, world.source_files)
    if found.tables_with_findings == ("plain",):
        assert (
            ids.items()
            <= {path: world.replica_files.status(path).file_id for path in world.replica_files.paths()}.items()
        )


@pytest.mark.parametrize(("damage", "table"), [(recreated, PLAIN), (recreated_without_partitions, ORDERS)])
def test_a_table_that_somebody_else_made_is_named_and_left_alone_until_it_is_gone(
    damage: Damage, table: TableName
) -> None:
    verifying = Verifying()
    followed, world = verifying.followed, verifying.world
    damage(verifying)
    assert verifying.findings()
    (said,) = Repair(followed.policy, (), HOLDER).run(world.ports())
    assert "was not made by policy sales" in said and f"twinhive resync sales {table.table}" in said
    world.replica.drop_table(table, delete_data=True)
    Repair(followed.policy, (table.table,), HOLDER).run(world.ports())
    followed.follow()
    assert verifying.verify(deep=True).is_equal


def test_a_function_that_somebody_else_made_is_named_with_the_statement_that_drops_it(verifying: Verifying) -> None:
    kinds.function_extra(verifying)
    assert verifying.findings()
    ResyncEverything(verifying.followed.policy, HOLDER).run(verifying.world.ports())
    verifying.followed.follow()
    assert any("DROP FUNCTION sales.shout" in line for line in verifying.followed.log)


@pytest.fixture
def verifying() -> Verifying:
    return Verifying()
