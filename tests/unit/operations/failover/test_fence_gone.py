"""What a TRUNCATE has deleted behind a fence, and no snapshot has, is named by the abort: nobody else knows."""

from dataclasses import replace

import pytest

from tests.unit.operations.failover.test_fence import HOME, Fenced
from twinhive.core.model.failover.fence import QUOTA
from twinhive.core.model.names import TableName

ORDERS = TableName("sales", "orders")


@pytest.fixture
def fenced() -> Fenced:
    return Fenced(QUOTA)


def named(fenced: Fenced) -> list[str]:
    """Return what a dry run and the abort itself name, which must be the same."""
    planned = [line for line in fenced.abort().plan(fenced.world.ports()) if "TRUNCATE" in line]
    assert planned == [line for line in fenced.abort().run(fenced.world.ports()) if "TRUNCATE" in line]
    return planned


def test_partitions_that_lost_their_directories_are_named(fenced: Fenced) -> None:
    fenced.failover().fence(fenced.world.ports())
    fenced.world.source_files.delete(fenced.users.location("orders", ("a b",)))
    fenced.world.source_files.delete(f"{HOME}/plain")
    (line,) = named(fenced)
    assert "leaves them: orders (p=a b), plain; their files" in line


def test_where_nothing_is_gone_nothing_is_named(fenced: Fenced) -> None:
    fenced.failover().fence(fenced.world.ports())
    assert named(fenced) == []


def test_a_partition_elsewhere_on_that_file_system_is_looked_for_too(fenced: Fenced) -> None:
    files, source = fenced.world.source_files, fenced.world.source
    (partition,) = source.partitions(ORDERS, ["p=a b"])
    files.put("hdfs://east/elsewhere/one/data", b"rows")
    source.alter_partitions([replace(partition, location="hdfs://east/elsewhere/one")])
    fenced.follow()
    fenced.failover().fence(fenced.world.ports())
    files.delete("hdfs://east/elsewhere/one")
    (line,) = named(fenced)
    assert "orders (p=a b)" in line


def test_many_partitions_are_looked_for_without_a_question_for_each(fenced: Fenced) -> None:
    fenced.users.add_partitions("orders", {(str(day),): [b"rows"] for day in range(40)})
    fenced.follow()
    fenced.failover().fence(fenced.world.ports())
    for day in range(20):
        fenced.world.source_files.delete(fenced.users.location("orders", (str(day),)))
    asked: list[str] = []
    original = fenced.world.source_files.status
    fenced.world.source_files.status = lambda path: asked.append(path) or original(path)
    (line,) = [line for line in fenced.abort().plan(fenced.world.ports()) if "TRUNCATE" in line]
    assert "orders (p=0, p=1, p=10," in line and "and 10 more)" in line
    assert not [path for path in asked if "/p=" in path]
