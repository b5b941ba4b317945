"""What a listing adds up to does not depend on the order of its pages, and does on each file."""

import random

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.directory_marks.directories import Mark, Purpose
from twinhive.core.model.errors import TwinhiveError
from twinhive.statements.table_exports import listed_files
from twinhive.statements.table_exports.listed_files import NewList, counted, done, is_done, items_of, pieces
from twinhive.statements.table_exports.table_tree import claim_work
from twinhive.transfer.staged.staged_files import CopyItem

ITEMS = [
    CopyItem(f"hdfs://east/t/p={n % 3}/f{n}", n, 5, n, relative=f"f{n}", partition=f"p={n % 3}") for n in range(20)
]


def test_any_order_gives_the_same_sums() -> None:
    chance, wanted = random.Random(1), counted(ITEMS)
    assert (wanted.files, wanted.bytes) == (20, sum(range(20)))
    for _ in range(10):
        assert counted(chance.sample(ITEMS, len(ITEMS))) == wanted


@pytest.mark.parametrize(
    "other",
    [
        ITEMS[1:],
        [*ITEMS, ITEMS[0]],
        [CopyItem(ITEMS[0].path, 0, 6, 0, relative="f0", partition="p=0"), *ITEMS[1:]],
        [CopyItem(ITEMS[0].path, 0, 5, 0, relative="f0", partition="p=1"), *ITEMS[1:]],
    ],
)
def test_each_file_counts(other: list[CopyItem]) -> None:
    assert counted(other).digest != counted(ITEMS).digest


@pytest.mark.parametrize("most", [1, 7, 20, 100])
def test_pieces_hold_all_files_in_their_order(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listed_files, "FILES_A_PIECE", most)
    files = InMemoryFiles("hdfs://west")
    listing = NewList(claim_work(files, "hdfs://west/work", Mark(Purpose.EXPORT, "x")))
    assert listing.write(ITEMS[:3]) == counted(ITEMS[:3])
    first = listing.directory
    assert listing.write(iter(ITEMS)) == counted(ITEMS)
    assert files.status(first) is None, "a listing that is made anew leaves nothing of the one before"
    found = pieces(files, listing.directory)
    assert [item for piece in found for item in items_of(files, piece)] == ITEMS
    files.rename(found[0], done(found[0]))
    assert [is_done(piece) for piece in pieces(files, listing.directory)].count(True) == 1
    assert list(items_of(files, found[0])) == [], "somebody else has done it"


def test_an_odd_line_is_refused() -> None:
    files = InMemoryFiles("hdfs://west")
    listing = NewList(claim_work(files, "hdfs://west/work", Mark(Purpose.EXPORT, "x")))
    listing.write([CopyItem("hdfs://east/t/f", 1, 1, 1, relative="../f", partition="p")])
    with pytest.raises(TwinhiveError):
        list(items_of(files, pieces(files, listing.directory)[0]))
