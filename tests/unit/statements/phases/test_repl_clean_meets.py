"""What a cleaning meets and cannot read, remove, or take at its word: the rest goes on, and no needed dump goes."""

import json

import pytest

from tests.support.worlds.repl_world import ReplWorld
from tests.unit.statements.phases.test_repl_clean import DAY, DUMPS, LATER, begin_load, clean, there
from twinhive.core.model.errors import Refused, TwinhiveError, Unexplained, Unreachable
from twinhive.replication.dump.loader_notes import LoaderNote, loader_notes
from twinhive.replication.dump.repl_dump_description import open_sealed
from twinhive.statements.steps.repl_clean import DumpCleaner


@pytest.fixture
def repl() -> ReplWorld:
    return ReplWorld()


@pytest.mark.parametrize("answer", [Refused, Unexplained, Unreachable])
def test_a_dump_that_cannot_be_read_is_kept_and_said_though_no_note_names_it(
    repl: ReplWorld, answer: type[TwinhiveError]
) -> None:
    unread, other = repl.dump(), repl.dump()
    begin_load(repl, other.directory, 0)
    files = repl.world.source_files
    read = files.read

    def read_all_but_one(path: str) -> bytes:
        if path == f"{unread.directory}/repl.json":
            raise answer("no answer that anybody knows")
        return read(path)

    files.read = read_all_but_one
    assert clean(repl, LATER) == []
    files.read = read
    assert open_sealed(files, unread.directory)
    why = "its repl.json cannot be read (no answer that anybody knows)"
    assert f"kept, {why}: {unread.directory}" in repl.log


def test_a_dump_of_another_version_is_kept(repl: ReplWorld) -> None:
    dumped, old = repl.dump(), repl.dump()
    path = f"{dumped.directory}/repl.json"
    files = repl.world.source_files
    files.write(path, json.dumps(json.loads(files.read(path)) | {"format": 2}).encode())
    assert clean(repl, LATER) == [old.directory]
    assert files.status(path)
    assert "was not written by this version" in repl.log[-1] + repl.log[-2]


def test_a_dump_that_the_trash_refuses_keeps_no_other(repl: ReplWorld) -> None:
    refused, others = repl.dump(), [repl.dump(), repl.dump()]
    files = repl.world.source_files
    to_trash, name = files.to_trash, refused.directory.rpartition("/")[2]

    def refuse_one(path: str) -> bool:
        if name in path:
            raise Refused(f"{path}: quota of the trash")
        return to_trash(path)

    files.to_trash = refuse_one
    for _ in range(2):  # the second time it lies aside
        others.append(repl.dump())
        clean(repl, LATER)
        assert not any(files.status(other.directory) for other in others)
        assert any(line.startswith("kept: ") and "quota of the trash" in line for line in repl.log)
        repl.log.clear()
    files.to_trash = to_trash
    assert len(clean(repl, LATER)) == 1


@pytest.mark.parametrize("further", [-1, 0, 1])
def test_a_replica_that_is_further_than_its_old_note_says_keeps_no_dump_that_it_has(
    repl: ReplWorld, further: int
) -> None:
    repl.load(repl.dump())
    repl.users.create_table("made")
    dumped = repl.dump(repl.status())
    asked: list[str] = []

    def reached(note: LoaderNote) -> int:
        asked.append(note.replica)
        return dumped.last_event + further

    files = repl.world.source_files
    (found,) = loader_notes(files, DUMPS)
    young = found.file.modified_ms / 1000 + DAY
    DumpCleaner(files, DUMPS, DAY, young, there, repl.log.append, reached).run()
    assert files.status(dumped.directory) and not asked
    removed = DumpCleaner(files, DUMPS, DAY, LATER, there, repl.log.append, reached).run()
    assert (removed == [dumped.directory]) is (further >= 0)
    assert asked == ["west/sales"]


def test_a_dump_that_a_replica_is_loading_is_kept_though_it_is_further(repl: ReplWorld) -> None:
    dumped = repl.dump()
    begin_load(repl, dumped.directory, 0)
    files = repl.world.source_files
    assert DumpCleaner(files, DUMPS, DAY, LATER, there, repl.log.append, lambda note: 9_999).run() == []
