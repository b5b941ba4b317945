"""Clusters whose files are guarded by different kinds of checksums converge after every interruption."""

from collections.abc import Callable
from functools import partial

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.support.worlds.memory_comparison import contents
from tests.unit.replication.incremental.test_incremental import Followed
from tests.unit.replication.incremental.test_incremental_killed import follow_noticed
from tests.unit.replication.scan.test_scan import scan
from twinhive.core.model.errors import ActNow, Unreachable
from twinhive.core.model.files import ChecksumForm
from twinhive.core.model.names import TableName

MOST_CHANGES = 60


def erasure_coded(followed: Followed) -> None:
    """Let the replica cut files in another way: their default checksums are others, equal bytes are equal."""
    files = followed.world.replica_files
    files.checksum = partial(_cut_otherwise, files.checksum)


def _cut_otherwise(checksum: Callable, path: str, form: ChecksumForm, **how) -> str | None:
    found = checksum(path, form, **how)
    return found if found is None or form is ChecksumForm.COMPARISON else f"00{found[2:]}"


def of_another_type_at_the_source(followed: Followed) -> None:
    """Let the source guard files by checksums of another type than the replica would by itself."""
    followed.world.source_files.usual_checksums = "CRC32/512"


def of_another_type(followed: Followed) -> None:
    """Let the replica guard files by checksums of another type: no form of them compares."""
    followed.world.replica_files.usual_checksums = "CRC32/512"


KINDS = pytest.mark.parametrize(
    "kind", [erasure_coded, of_another_type, of_another_type_at_the_source], ids=lambda kind: kind.__name__
)


def begun(kind: Callable[[Followed], None]) -> Followed:
    followed = Followed()
    kind(followed)
    followed.users.insert("plain", None, [b"more"])
    followed.users.create_table("made", files=[b"a"])
    followed.users.add_partitions("orders", {("new",): [b"b"]})
    return followed


@KINDS
def test_killed_at_any_change_it_converges(kind: Callable[[Followed], None]) -> None:
    for followed in left_by_kills(lambda: begun(kind), follow_noticed, least=15):
        followed.follow()
        followed.follow()
        followed.assert_twin()


@KINDS
def test_a_metastore_that_does_not_answer_once_makes_no_file_foreign(kind: Callable[[Followed], None]) -> None:
    followed = begun(kind)
    alter, calls = followed.world.replica.alter_table, []

    def flaky(*args, **how) -> None:
        calls.append(args)
        if len(calls) == 1:
            raise Unreachable("no answer")
        alter(*args, **how)

    followed.world.replica.alter_table = flaky
    with pytest.raises(Unreachable):
        followed.follow()
    followed.follow()
    followed.assert_twin()


@KINDS
def test_an_insert_whose_file_the_scan_has_brought_is_applied(kind: Callable[[Followed], None]) -> None:
    followed = Followed()
    kind(followed)
    scan(followed)
    files, directory = followed.world.source_files, followed.users.location("plain")
    late = f"{directory}/late"
    files.put(late, b"late")
    files.retime(directory)
    assert scan(followed, now=1e9 + 900).followed
    checksum = files.checksum(late, ChecksumForm.IDENTITY)
    followed.world.source.fire_insert(TableName("sales", "plain"), None, [(late, checksum)])
    followed.follow()
    world = followed.world
    assert contents(world.replica, world.replica_files) == contents(world.source, world.source_files)


@KINDS
def test_a_deep_scan_finds_copies_equal(kind: Callable[[Followed], None]) -> None:
    followed = Followed()
    kind(followed)
    scan(followed, deep=True, now=1e9 + 100_000)  # what was copied before is copied once more
    followed.users.insert("plain", None, [b"more"])
    followed.users.add_partitions("orders", {("new",): [b"b"]})
    followed.follow()
    assert scan(followed, deep=True, now=1e9 + 200_000).followed == ()


@KINDS
def test_another_file_of_that_length_is_still_somebody_elses(kind: Callable[[Followed], None]) -> None:
    followed = Followed()
    kind(followed)
    followed.users.insert("plain", None, {"mine": b"more"})
    table = followed.world.replica.table(TableName("sales", "plain"))
    followed.world.replica_files.put(f"{table.location}/mine", b"moor")
    with pytest.raises(ActNow, match="another file of 4 bytes"):
        followed.follow()
