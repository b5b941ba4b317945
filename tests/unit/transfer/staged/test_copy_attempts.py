"""A copy looks for what is staged only where something of its batch may be."""

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.replication.dump.dump_layout import result_path
from twinhive.transfer.staged.copy_attempts import Tries
from twinhive.transfer.staged.staged_files import CopyItem

STAGING = "hdfs://west/twinhive/staging/sales"


class Staging:
    """The staging of a policy, and the tries of its batches."""

    def __init__(self) -> None:
        self.files = InMemoryFiles("hdfs://west")

    def stage(self, number: int) -> None:
        """Let a copy give a file its name."""
        self.files.put(CopyItem(f"hdfs://east/{number}", 1, 1, number).staged_path(STAGING), b"x")

    def is_first(self, batch: str, dump: str = "bootstrap-1") -> bool:
        return Tries(self.files, STAGING, self.files, result_path(STAGING, dump, batch)).is_first()


def test_each_batch_of_the_first_dump_has_one_first_try() -> None:
    staging = Staging()
    assert staging.is_first("b0")
    staging.stage(1)
    assert staging.is_first("b1"), "what is staged is of another batch"
    assert not staging.is_first("b0")
    assert not staging.is_first("b1")


def test_another_dump_finds_what_the_one_before_has_staged() -> None:
    staging = Staging()
    assert staging.is_first("b0")
    staging.stage(1)
    assert not staging.is_first("b0", "consolidate-2")
    assert not staging.is_first("b1", "consolidate-2")


def test_what_a_version_without_marks_has_staged_is_found() -> None:
    staging = Staging()
    staging.stage(1)
    assert not staging.is_first("b0")
    assert not staging.is_first("b1")


def test_a_try_that_was_killed_before_it_wrote_that_it_began_is_none() -> None:
    staging = Staging()
    assert staging.is_first("b0")
    staging.files.delete(result_path(STAGING, "bootstrap-1", "b0") + ".begun")
    assert staging.is_first("b0")


def test_staging_that_was_cleaned_has_nothing_again() -> None:
    staging = Staging()
    assert staging.is_first("b0")
    staging.stage(1)
    for directory in ("base", "results"):
        staging.files.delete(f"{STAGING}/{directory}")
    assert staging.is_first("b0", "consolidate-2")


def test_where_it_cannot_be_found_out_it_is_none() -> None:
    staging = Staging()
    staging.files.unanswered = 1
    assert not staging.is_first("b0")
    assert staging.is_first("b0")
