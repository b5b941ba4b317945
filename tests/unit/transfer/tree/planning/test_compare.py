from dataclasses import replace

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.files import FileStatus
from twinhive.transfer.tree.listing.compare import Comparison, unwritable
from twinhive.transfer.tree.request import SyncOptions
from twinhive.transfer.tree.tree_actions import ActionKind
from twinhive.transfer.tree.verified_pairs import VerifiedPairs, pair_digest

SOURCE = FileStatus("hdfs://east/f", 10, 1000, False, 7, "hive", "staff", 0o640, 128, 3, 900)
TARGET = replace(SOURCE, path="hdfs://west/f", file_id=8, modified_ms=2000)


def decided(source: FileStatus, target: FileStatus, **given: object) -> ActionKind:
    return Comparison(SyncOptions.of(given)).files(source, target)


def known(*pairs: tuple[FileStatus, FileStatus]) -> VerifiedPairs:
    files, memory = InMemoryFiles(), VerifiedPairs()
    memory.add(pair_digest(source, target.file_id) for source, target in pairs)
    memory.save(files, "hdfs://fake/v", only_seen=False)
    return VerifiedPairs.load(files, "hdfs://fake/v")


@pytest.mark.parametrize(
    ("length", "target_length", "given", "expected"),
    [
        (10, 10, {}, ActionKind.CHECK),
        (0, 0, {}, ActionKind.SKIP),
        (11, 10, {}, ActionKind.REPLACE),
        (9, 10, {}, ActionKind.REPLACE),
        (11, 10, {"append": True}, ActionKind.APPEND),
        (11, 0, {"append": True}, ActionKind.REPLACE),
        (9, 10, {"append": True}, ActionKind.REPLACE),
        (10, 10, {"append": True}, ActionKind.CHECK),
        (10, 10, {"mode": "overwrite"}, ActionKind.REPLACE),
        (0, 0, {"mode": "overwrite"}, ActionKind.REPLACE),
        (10, 10, {"compare": "time"}, ActionKind.SKIP),
        (11, 10, {"compare": "time"}, ActionKind.REPLACE),
    ],
)
def test_what_the_lengths_say(length: int, target_length: int, given: dict[str, object], expected: ActionKind) -> None:
    assert decided(replace(SOURCE, length=length), replace(TARGET, length=target_length), **given) is expected


@pytest.mark.parametrize(
    ("modified", "expected"), [(999, ActionKind.REPLACE), (1000, ActionKind.SKIP), (1001, ActionKind.SKIP)]
)
def test_by_time_a_copy_that_is_older_than_its_original_is_replaced(modified: int, expected: ActionKind) -> None:
    assert decided(SOURCE, replace(TARGET, modified_ms=modified), compare="time") is expected


def test_a_pair_that_is_known_to_be_equal_is_not_compared_again() -> None:
    memory = known((SOURCE, TARGET))

    assert Comparison(SyncOptions(), memory).files(SOURCE, TARGET) is ActionKind.SKIP
    assert Comparison(SyncOptions(), memory).files(replace(SOURCE, modified_ms=1), TARGET) is ActionKind.CHECK
    assert Comparison(SyncOptions(), memory).files(SOURCE, replace(TARGET, file_id=9)) is ActionKind.CHECK
    assert Comparison(SyncOptions.of({"recheck": True}), memory).files(SOURCE, TARGET) is ActionKind.CHECK


@pytest.mark.parametrize(
    ("letters", "change", "expected"),
    [
        ("u", {"owner": "other"}, ActionKind.ATTRIBUTES),
        ("g", {"group": "other"}, ActionKind.ATTRIBUTES),
        ("p", {"permission": 0o600}, ActionKind.ATTRIBUTES),
        ("r", {"replication": 2}, ActionKind.ATTRIBUTES),
        ("t", {"modified_ms": 1}, ActionKind.ATTRIBUTES),
        ("a", {"has_acl": True}, ActionKind.ATTRIBUTES),
        ("a", {}, ActionKind.SKIP),
        ("x", {}, ActionKind.ATTRIBUTES),
        ("b", {"block_size": 64}, ActionKind.REPLACE),
        ("t", {"accessed_ms": 1}, ActionKind.SKIP),
        ("rbugpct", {}, ActionKind.SKIP),
        ("", {"owner": "other", "permission": 0, "replication": 1, "block_size": 64}, ActionKind.SKIP),
    ],
)
def test_what_is_preserved_and_differs_is_set(letters: str, change: dict[str, object], expected: ActionKind) -> None:
    target = replace(SOURCE, path="hdfs://west/f", file_id=8, **change)
    comparison = Comparison(SyncOptions.of({"preserve": letters}), known((SOURCE, target)))

    assert comparison.files(SOURCE, target) is expected
    assert comparison.file_attributes_differ(SOURCE, target) == (expected is ActionKind.ATTRIBUTES)


def test_an_empty_file_has_no_blocks_to_differ() -> None:
    empty = replace(SOURCE, length=0)
    assert decided(empty, replace(empty, block_size=64), preserve="b") is ActionKind.SKIP


def test_an_acl_at_the_source_alone_differs() -> None:
    comparison = Comparison(SyncOptions.of({"preserve": "a"}))
    assert comparison.file_attributes_differ(replace(SOURCE, has_acl=True), TARGET)


def test_replication_and_block_size_are_no_attributes_of_a_directory() -> None:
    comparison = Comparison(SyncOptions.of({"preserve": "rbugpc"}))
    directory = replace(SOURCE, is_directory=True)

    assert not comparison.directory_attributes_differ(directory, replace(directory, replication=0, block_size=0))
    assert comparison.directory_attributes_differ(directory, replace(directory, owner="other"))


@pytest.mark.parametrize("given", [{"mode": "overwrite"}, {"append": True}, {"compare": "time"}])
def test_what_an_earlier_run_has_built_is_compared_whatever_the_mode(given: dict[str, object]) -> None:
    comparison = Comparison(SyncOptions.of(given))

    assert comparison.built_files(SOURCE, TARGET) is ActionKind.CHECK
    assert comparison.built_files(replace(SOURCE, length=11), TARGET) is ActionKind.REPLACE


@pytest.mark.parametrize(
    ("name", "scheme", "is_fine"),
    [
        ("a:b", "hdfs", False),
        ("a:b", "file", True),
        ("half \ud83d", "hdfs", False),
        ("half \ud83d", "file", False),
        ("🐘", "hdfs", True),
        ("new\nline", "hdfs", True),
        ("%2F", "hdfs", True),
    ],
)
def test_names_that_the_target_cannot_have(name: str, scheme: str, is_fine: bool) -> None:
    assert (unwritable(name, scheme) is None) == is_fine
