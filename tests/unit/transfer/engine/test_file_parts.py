"""State how a very large file is cut, copied in parts, resumed and put together."""

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.errors import AlreadyThere, CopyWasSwept, Missing, Unreachable
from twinhive.core.model.files import ChecksumForm
from twinhive.core.threads.parallel_map import Threads
from twinhive.transfer.engine.file_parts import PartsWriter, split
from twinhive.transfer.engine.transfer import Transfer, Transferred

PATH = "hdfs://east/w/f"
COPY = "hdfs://west/work/copy"
PARTS = "hdfs://west/work/parts/digest"
BLOCK = 100
CONTENT = b"".join(f"{number:09d}\n".encode() for number in range(105))  # eleven blocks, the last of fifty bytes


@pytest.mark.parametrize(
    ("length", "block_size", "above", "lengths"),
    [
        (0, 100, 400, [0]),
        (400, 100, 400, [400]),
        (401, 100, 400, [300, 101]),
        (1050, 100, 400, [400, 400, 250]),
        (1250, 100, 400, [400, 400, 400, 50]),
        (1050, 100, 450, [400, 400, 250]),
        (1050, 400, 100, [400, 400, 250]),
        (900, 100, 1000, [900]),
        (3 << 30, 0, 1 << 30, [1 << 30] * 3),
    ],
)
def test_ranges_are_even_and_of_whole_blocks(length: int, block_size: int, above: int, lengths: list[int]) -> None:
    ranges = split(length, block_size, above)
    assert [each.length for each in ranges] == lengths
    assert [each.offset for each in ranges] == [sum(lengths[:number]) for number in range(len(lengths))]
    assert [each.number for each in ranges] == list(range(len(lengths)))


class World:
    """Two file systems and a large file."""

    def __init__(self, checksum_type: str = "CRC32C/512") -> None:
        self.source = InMemoryFiles("hdfs://east")
        self.target = InMemoryFiles("hdfs://west")
        self.original = self.source.put(PATH, CONTENT, block_size=BLOCK, checksum_type=checksum_type)
        self.writer = self.new_writer()

    def new_writer(self) -> PartsWriter:
        transfer = Transfer(self.source, self.target, by_server_from=1)
        return PartsWriter(self.target, transfer, Threads(1), above=400)

    def copy(self) -> Transferred:
        return self.writer.copy(self.original, COPY, PARTS)

    def written(self) -> int:
        return self.target.calls["create_from"]

    def leave_parts(self, *lengths: int) -> None:
        start = 0
        for number, length in enumerate(lengths):
            self.target.put(f"{PARTS}/{number:05d}", CONTENT[start : start + length])
            start += length


@pytest.fixture
def world() -> World:
    return World()


def test_a_large_file_is_written_in_parts(world: World) -> None:
    copied = world.copy()
    there = world.target.status(COPY)
    assert there and copied == Transferred(len(CONTENT), True, there.file_id)
    assert world.target.read(COPY) == CONTENT
    assert world.target.paths() == [COPY] and world.written() == 3


def test_only_large_files_are_taken(world: World) -> None:
    small = world.source.put("hdfs://east/w/small", CONTENT[:400])
    assert world.writer.takes(world.original) and not world.writer.takes(small)


def test_a_file_system_that_cannot_put_parts_together_is_asked_once(world: World) -> None:
    world.target.can_concatenate = False
    assert not world.writer.takes(world.original) and not world.writer.takes(world.original)
    assert world.target.calls["concatenate"] == 1


def test_parts_that_are_whole_are_taken_over(world: World) -> None:
    world.leave_parts(400, 200)
    assert world.copy().verified
    assert world.written() == 2 and world.target.read(COPY) == CONTENT


def test_parts_that_were_put_together_already_are_taken_over(world: World) -> None:
    world.leave_parts(len(CONTENT))
    assert world.copy().verified
    assert world.written() == 0 and world.target.read(COPY) == CONTENT


def test_parts_of_right_lengths_with_other_bytes_are_written_anew(world: World) -> None:
    world.leave_parts(400, 400)
    world.target.put(f"{PARTS}/00001", b"?" * 400)
    assert world.copy().verified
    assert world.target.read(COPY) == CONTENT and world.target.paths() == [COPY]


def test_parts_that_cannot_be_put_together_are_written_anew(world: World) -> None:
    world.leave_parts(400, 400, 250)

    def gone(path: str, parts: list[str]) -> None:
        raise Missing("a part is still open to its killed writer")

    world.target.concatenate = gone  # type: ignore[method-assign]
    assert world.copy().verified
    assert world.target.read(COPY) == CONTENT and world.target.paths() == [COPY]


def test_a_source_that_guards_its_blocks_otherwise_is_copied_all_the_same() -> None:
    world = World("CRC32/512")
    assert world.copy().verified
    assert world.target.read(COPY) == CONTENT


def test_a_damaged_part_is_seen_and_mended(world: World) -> None:
    world.target.corrupt_next_copies = 1
    assert world.copy().verified
    assert world.target.read(COPY) == CONTENT


def test_a_part_that_fails_ends_the_others_and_leaves_them(world: World) -> None:
    world.target.unanswered = 0
    calls = world.source.open

    def second_fails(path: str, *, offset: int = 0, verified: bool = True):  # type: ignore[no-untyped-def]
        if offset == 400:
            raise Unreachable("no answer")
        return calls(path, offset=offset, verified=verified)

    world.source.open = second_fails  # type: ignore[method-assign]
    with pytest.raises(Unreachable):
        world.copy()
    assert world.target.paths() == [f"{PARTS}/00000"]
    world.source.open = calls  # type: ignore[method-assign]
    assert world.copy().verified and world.written() == 3


def test_nothing_is_overwritten(world: World) -> None:
    world.target.put(COPY, b"theirs")
    with pytest.raises(AlreadyThere, match=COPY):
        world.copy()
    assert world.target.read(COPY) == b"theirs"


def test_a_part_that_another_try_writes_is_tried_again(world: World) -> None:
    write = world.target.create_from

    def other_is_faster(stream, path: str, **how):  # type: ignore[no-untyped-def]
        world.target.put(path, b"theirs")
        return write(stream, path, **how)

    world.target.create_from = other_is_faster  # type: ignore[method-assign]
    with pytest.raises(CopyWasSwept, match=f"{PARTS}/00000: another try copies the same file now"):
        world.copy()
    world.target.create_from = write  # type: ignore[method-assign]
    assert world.copy().verified and world.target.read(COPY) == CONTENT


def test_parts_that_another_try_has_taken_are_tried_again(world: World) -> None:
    compare = world.target.checksum

    def taken(path: str, form: ChecksumForm) -> str | None:
        found = compare(path, form)
        world.target.delete_file(path)
        return found

    world.target.checksum = taken  # type: ignore[method-assign]
    with pytest.raises(CopyWasSwept, match="another try copies the same file now"):
        world.copy()
    world.target.checksum = compare  # type: ignore[method-assign]
    assert world.copy().verified and world.target.read(COPY) == CONTENT
