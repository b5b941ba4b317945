"""State how one file is copied and verified, small and large, between file systems with and without checksums."""

import pytest

from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.errors import AlreadyThere, CopyDiffers, Missing, Unreachable
from twinhive.core.model.files import Creation, FileStatus
from twinhive.transfer.engine.transfer import Transfer, Transferred

PATH = "hdfs://east/w/f"
COPY = "hdfs://west/w/f"
CONTENT = b"some rows of a table"


class World:
    """Two file systems, one file; files from `by_server_from` bytes are large."""

    def __init__(self, by_server_from: int = 1000) -> None:
        self.source = InMemoryFiles("hdfs://east")
        self.target = InMemoryFiles("hdfs://west")
        self.by_server_from = by_server_from
        self.metered: list[int] = []
        self.put()

    def put(self, checksum_type: str = "CRC32C/512") -> None:
        self.original = self.source.put(PATH, CONTENT, checksum_type=checksum_type)

    def transfer(self) -> Transfer:
        return Transfer(self.source, self.target, self.metered.append, by_server_from=self.by_server_from)

    def copy(self) -> Transferred:
        return self.transfer().copy(self.original, COPY)


@pytest.fixture(params=[1000, 1], ids=["small", "large"])
def world(request: pytest.FixtureRequest) -> World:
    return World(request.param)


def test_a_copy_is_verified(world: World) -> None:
    copied = world.copy()
    there = world.target.status(COPY)
    assert there and copied == Transferred(len(CONTENT), True, there.file_id)
    assert world.target.read(COPY) == CONTENT
    assert world.metered == [len(CONTENT)]


def test_a_small_file_is_verified_by_its_bytes() -> None:
    world = World()
    world.copy()
    assert world.source.calls == {"open": 1}
    assert world.target.calls == {"create_from": 1, "checksum": 1}


def test_a_large_file_is_verified_by_the_servers() -> None:
    world = World(by_server_from=1)
    world.copy()
    assert world.source.calls == {"open": 1, "checksum": 1}
    assert world.target.calls == {"create_from": 1, "checksum": 1}


def test_an_empty_file_needs_no_checksums(world: World) -> None:
    world.original = world.source.put(PATH, b"")
    assert world.copy().verified
    assert not world.target.calls["checksum"]


def test_a_file_is_made_as_told(world: World) -> None:
    how = Creation(block_size=4096, replication=2, permission=0o600, checksum="CRC32/512")
    world.transfer().copy(world.original, COPY, how)
    status = world.target.status(COPY)
    assert status and (status.block_size, status.replication, status.permission) == (4096, 2, 0o600)


def test_nothing_is_overwritten(world: World) -> None:
    world.target.put(COPY, b"theirs")
    with pytest.raises(AlreadyThere):
        world.copy()
    assert world.target.read(COPY) == b"theirs"


def test_a_copy_that_is_damaged_on_its_way_is_seen(world: World) -> None:
    world.target.corrupt_next_copies = 2
    with pytest.raises(CopyDiffers, match=PATH):
        world.copy()


def test_a_large_file_is_copied_once_more_before_it_counts_as_different() -> None:
    world = World(by_server_from=1)
    world.target.corrupt_next_copies = 1
    assert world.copy().verified
    assert world.target.read(COPY) == CONTENT


def test_a_bad_replica_of_the_source_is_not_copied(world: World) -> None:
    world.source.corrupt_replicas.add(PATH)
    assert world.copy().verified
    assert world.target.read(COPY) == CONTENT


def test_a_source_without_a_good_replica_is_not_copied(world: World) -> None:
    world.source.corrupt.add(PATH)
    with pytest.raises(Unreachable, match="replica"):
        world.copy()


def test_a_file_that_grew_or_shrank_differs(world: World) -> None:
    world.source.put(PATH, CONTENT + b"!")
    with pytest.raises(CopyDiffers, match="length"):
        world.copy()


def test_a_file_that_is_gone_is_missing(world: World) -> None:
    world.source.delete(PATH)
    with pytest.raises(Missing, match=PATH):
        world.copy()


def test_a_source_that_guards_its_blocks_otherwise_is_found_out_once() -> None:
    world = World(by_server_from=1)
    world.put("CRC32/512")
    transfer = world.transfer()
    assert transfer.copy(world.original, COPY).verified
    assert world.target.calls["create_from"] == 2
    assert transfer.copy(world.original, f"{COPY}2").verified
    assert world.target.calls["create_from"] == 3, "its bytes are compared from now on"
    assert world.target.read(f"{COPY}2") == CONTENT


@pytest.mark.parametrize("checksum", ["CRC32/512", ""])
def test_a_copy_may_be_guarded_otherwise_than_its_source(world: World, checksum: str) -> None:
    world.put("CRC32/512")
    assert world.transfer().copy(world.original, COPY, Creation(checksum=checksum)).verified


def test_without_checksums_at_the_target_only_the_length_is_known(world: World) -> None:
    world.target = InMemoryFiles("hdfs://west", has_checksums=False)
    assert world.copy().verified is False


def test_without_checksums_at_the_source_the_bytes_that_were_read_are_compared(world: World) -> None:
    world.source = InMemoryFiles("hdfs://east", has_checksums=False)
    world.put()
    assert world.copy().verified is True
    world.target.corrupt_next_copies = 2
    with pytest.raises(CopyDiffers):
        world.transfer().copy(world.original, f"{COPY}2")


def test_a_range(world: World) -> None:
    written = world.transfer().copy_range(world.original, 5, 4, COPY)
    assert written.length == 4 and world.target.read(COPY) == CONTENT[5:9]
    with pytest.raises(CopyDiffers, match="part at 10"):
        world.transfer().copy_range(world.original, 10, 4000, f"{COPY}2")


def test_a_whole_that_was_made_otherwise_is_compared(world: World) -> None:
    world.target.put(COPY, CONTENT)
    assert world.transfer().compare(world.original, COPY) is True
    world.target.put(COPY, CONTENT[::-1])
    with pytest.raises(CopyDiffers, match="checksum"):
        world.transfer().compare(world.original, COPY)
    world.source = InMemoryFiles("hdfs://east", has_checksums=False)
    world.put()
    assert world.transfer().compare(FileStatus(PATH, 20, 0), COPY) is False
