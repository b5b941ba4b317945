import random
from dataclasses import replace
from unittest import mock

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.files import FileStatus
from twinhive.transfer.tree import verified_pairs
from twinhive.transfer.tree.verified_pairs import VerifiedPairs, pair_digest

SOURCE = FileStatus("hdfs://east/a", 10, 1700, file_id=16400)
HERE = "hdfs://fake/t/.twinhive/verified/abc"


def saved(digests: list[int], files: InMemoryFiles, *, only_seen: bool = False) -> None:
    pairs = VerifiedPairs()
    pairs.add(digests)
    pairs.save(files, HERE, only_seen=only_seen)


@pytest.mark.parametrize(
    "other", [replace(SOURCE, length=11), replace(SOURCE, modified_ms=1701), replace(SOURCE, file_id=16401)]
)
def test_whatever_a_change_changes_makes_another_digest(other: FileStatus) -> None:
    assert pair_digest(SOURCE, 7) != pair_digest(other, 7)
    assert pair_digest(SOURCE, 7) != pair_digest(SOURCE, 8)


def test_a_name_is_no_part_of_the_digest() -> None:
    assert pair_digest(SOURCE, 7) == pair_digest(replace(SOURCE, path="hdfs://east/b", accessed_ms=5), 7)


def test_files_without_ids_are_never_remembered() -> None:
    assert pair_digest(replace(SOURCE, file_id=0), 7) == pair_digest(SOURCE, 0) == 0
    pairs = VerifiedPairs()
    pairs.add([0])
    assert len(pairs) == 0
    assert not pairs.knows(0)


@pytest.mark.parametrize("per_file", [10, 1_000_000])
def test_what_was_saved_is_known(per_file: int) -> None:
    dice = random.Random(per_file)
    digests = [dice.randrange(1, 2**64) for _ in range(5000)] + [1, 2**64 - 1]
    files = InMemoryFiles()
    with mock.patch.object(verified_pairs, "_PAIRS_A_FILE", per_file):
        saved(digests, files)
        pairs = VerifiedPairs.load(files, HERE)

    assert len(pairs) == len(digests)
    assert all(map(pairs.knows, digests))
    assert not any(pairs.knows(digest ^ 1) for digest in digests if digest ^ 1 not in digests)


def test_a_save_that_was_interrupted_leaves_what_is_true() -> None:
    dice = random.Random(3)
    old = [dice.randrange(1, 2**64) for _ in range(1500)]
    new = [dice.randrange(1, 2**64) for _ in range(1200)]
    files = InMemoryFiles()
    with mock.patch.object(verified_pairs, "_PAIRS_A_FILE", 100):
        saved(old, files)
        kept = {path: files.read(path) for path in files.paths()[4:]}
        saved(new, files)
        for path, content in kept.items():
            files.put(path, content)
        pairs = VerifiedPairs.load(files, HERE)

    assert sum(map(pairs.knows, new)) > 400
    assert sum(map(pairs.knows, old)) > 800
    assert sum(map(pairs.knows, [*new, *old])) == len(pairs)


def test_pairs_that_nobody_asked_for_are_forgotten_after_a_whole_walk() -> None:
    files = InMemoryFiles()
    saved([5, 6], files)
    pairs = VerifiedPairs.load(files, HERE)
    assert pairs.knows(5)
    pairs.add([7])
    pairs.save(files, HERE, only_seen=True)
    pairs = VerifiedPairs.load(files, HERE)

    assert [digest for digest in (5, 6, 7) if pairs.knows(digest)] == [5, 7]


def test_nothing_left_to_remember_leaves_no_file() -> None:
    files = InMemoryFiles()
    saved([5], files)
    VerifiedPairs.load(files, HERE).save(files, HERE, only_seen=True)

    assert files.paths() == []


@pytest.mark.parametrize("content", [b"", b"something else", verified_pairs._VERSION + b"1234567"])
def test_a_file_that_is_no_memory_is_none(content: bytes) -> None:
    files = InMemoryFiles()
    files.put(f"{HERE}/00000", content)

    assert len(VerifiedPairs.load(files, HERE)) == 0


def test_one_file_takes_one_call() -> None:
    files = InMemoryFiles()
    saved([5, 6], files)
    files.calls.clear()
    assert len(VerifiedPairs.load(files, HERE)) == 2
    assert files.calls == {"read": 1}


def test_without_a_directory_nothing_is_known() -> None:
    assert len(VerifiedPairs.load(InMemoryFiles(), HERE)) == 0
