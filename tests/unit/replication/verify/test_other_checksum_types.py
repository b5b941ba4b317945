"""What nobody has compared is not equal: where checksums are of other types, or there are none, bytes are read."""

from collections.abc import Callable

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.worlds.memory_comparison import contents
from tests.unit.operations.failover.test_failover import HOLDER, ready
from tests.unit.replication.verify.test_verify import ORDERS, PLAIN
from tests.unit.replication.verify.verifying import Verifying
from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.core.ports.same_content import have_same_content
from twinhive.operations.actions.repair import Repair
from twinhive.operations.failover.failover import Failover

OTHER = "CRC32/512"


def files_of(verifying: Verifying, table: TableName) -> list[str]:
    """Return the files of a table of the replica."""
    replica, files = verifying.world.replica, verifying.world.replica_files
    there = replica.table(table)
    places = [place for _, place in replica.partition_locations(there)] if there.partition_keys else [there.location]
    return [path for path in files.paths() if any(path.startswith(f"{place}/") for place in places)]


def guarded_otherwise(verifying: Verifying, changed: Callable[[bytes], bytes]) -> None:
    """Let all files of the replica be guarded by another type, as those of who seeded it from disks may be."""
    files = verifying.world.replica_files
    for table in (PLAIN, ORDERS):
        for path in files_of(verifying, table):
            files.put(path, changed(files.read(path)), checksum_type=OTHER)


@pytest.fixture
def verifying() -> Verifying:
    return Verifying()


def test_other_bytes_of_one_length_are_found(verifying: Verifying) -> None:
    guarded_otherwise(verifying, lambda content: b"X" * len(content))
    first, second = verifying.verify(deep=True), verifying.verify(deep=True)
    assert (first.is_equal, first.suspected) == (False, 3)
    assert sorted(one.partition(":")[0].partition(" ")[0] for one in second.findings) == ["orders", "orders", "plain"]
    assert all(": content (" in one for one in second.findings)


def test_equal_bytes_are_equal_and_were_compared(verifying: Verifying) -> None:
    guarded_otherwise(verifying, lambda content: content)
    found = verifying.verify(deep=True)
    assert found.is_equal, found.lines()
    assert (found.with_checksums, found.by_bytes) == (found.with_files, 3)
    assert "of 3 bytes were read, as their checksums are of other types" in found.coverage


def test_bytes_that_were_compared_are_not_read_the_next_night(verifying: Verifying) -> None:
    guarded_otherwise(verifying, lambda content: content)
    verifying.verify(deep=True)
    before = reads(verifying)
    found = verifying.verify()
    assert reads(verifying) == before
    assert (found.is_equal, found.by_bytes, found.with_checksums) == (True, 0, found.with_files)


def test_thirty_nights_read_all_bytes_once_more(verifying: Verifying) -> None:
    guarded_otherwise(verifying, lambda content: content)
    verifying.verify(deep=True)
    before, read = reads(verifying), 0
    for _ in range(30):
        verifying.next_night()
        read += verifying.verify().by_bytes
    assert read == 3
    # On both sides: `data` and `zero` of plain, and one file of each partition that has any.
    assert reads(verifying) - before == 2 * len([*files_of(verifying, PLAIN), *files_of(verifying, ORDERS)])


def reads(verifying: Verifying) -> int:
    """Return how many files have been read as a whole."""
    sides = (verifying.world.source_files, verifying.world.replica_files)
    return sum(side.calls["digest"] for side in sides)


def test_a_planned_failover_does_not_take_them_for_equal_and_names_what_mends_them() -> None:
    verifying = Verifying()
    followed, world = ready(verifying.followed), verifying.world
    failover = Failover(followed.policy, HOLDER, wait=lambda seconds: None)
    guarded_otherwise(verifying, lambda content: b"X" * len(content))
    verifying.verify(deep=True)
    with pytest.raises(ActNow, match="is not proved equal to its source") as caught:
        failover.run(world.ports())
    assert world.replica.database("sales").parameters["twinhive.phase"] == "following"
    assert "twinhive repair sales orders plain" in caught.value.commands
    Repair(followed.policy, ("orders", "plain"), HOLDER).run(world.ports())
    followed.follow()
    failover.run(world.ports())
    assert contents(world.replica, world.replica_files) == contents(world.source, world.source_files)


@pytest.mark.parametrize("without", ["source", "replica", "both"])
@pytest.mark.parametrize("is_damaged", [False, True])
def test_a_file_system_without_checksums(verifying: Verifying, without: str, is_damaged: bool) -> None:
    if is_damaged:
        guarded_otherwise(verifying, lambda content: b"X" * len(content))
    world = verifying.world
    for side, files in (("source", world.source_files), ("replica", world.replica_files)):
        files._has_checksums = without not in (side, "both")
    verifying.verify(deep=True)
    found = verifying.verify(deep=True)
    assert (found.is_equal, found.found) == ((False, 3) if is_damaged else (True, 0)), found.lines()


@pytest.mark.parametrize("types", [("CRC32C/512", "CRC32/512"), ("CRC32C/512", "CRC32C/512"), (None, None)])
@pytest.mark.parametrize("content", [b"rows", b"ROWS"])
def test_two_files_hold_the_same_when_their_bytes_are_the_same(
    types: tuple[str | None, str | None], content: bytes
) -> None:
    one, other = (InMemoryFiles(f"hdfs://{name}", has_checksums=types != (None, None)) for name in ("one", "other"))
    one.put("hdfs://one/f", b"rows", checksum_type=types[0])
    other.put("hdfs://other/f", content, checksum_type=types[1])
    assert have_same_content(one, "hdfs://one/f", other, "hdfs://other/f") == (content == b"rows")
