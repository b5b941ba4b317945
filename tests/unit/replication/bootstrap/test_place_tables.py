import pytest

from tests.support.builders import a_policy, a_table
from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hdfs.fake_lease import InMemoryLease
from twinhive.core.model.errors import Foreign, TryAgain
from twinhive.core.model.marks import DIRECTORY_MARK, Stamp
from twinhive.replication.bootstrap.place_tables import move_in
from twinhive.replication.replica.replica_locations import TablePlacement

MARK = "sales:dump-1"
PLACEMENT = TablePlacement.plan(a_table(), a_policy(), "hdfs://west/w/sales.db", "hdfs://west/s/tables", Stamp("l", 1))


class LosingFiles(InMemoryFiles):
    """Lose the built directory right before it is renamed, as a cleaner of staging would."""

    def rename(self, source: str, target: str) -> bool:
        self.delete(source)
        return super().rename(source, target)


def move(files: InMemoryFiles) -> None:
    files.put(f"{PLACEMENT.building}/f", b"1")
    with InMemoryLease().hold("hdfs://west/lease", {}) as lease:
        move_in(files, PLACEMENT, MARK, lease)


def test_a_built_directory_appears_as_a_whole_with_its_mark() -> None:
    files = InMemoryFiles("hdfs://west")
    move(files)
    assert files.read(f"{PLACEMENT.directory}/f") == b"1"
    assert files.attribute(PLACEMENT.directory, DIRECTORY_MARK) == MARK


def test_a_directory_that_vanished_is_never_registered_as_an_empty_table() -> None:
    with pytest.raises(TryAgain, match="vanished before it was renamed"):
        move(LosingFiles("hdfs://west"))


def test_a_directory_of_somebody_else_at_the_final_place_is_refused() -> None:
    files = InMemoryFiles("hdfs://west")
    files.put(f"{PLACEMENT.directory}/theirs", b"2")
    with pytest.raises(Foreign, match="exists already"):
        move(files)
    assert files.read(f"{PLACEMENT.directory}/theirs") == b"2"
