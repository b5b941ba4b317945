"""What a cleaning meets and cannot read, remove, or take at its word: the rest goes on, and no needed dump goes."""

import json

import pytest

from tests.support.worlds.repl_world import ReplWorld
from tests.unit.statements.phases.test_repl_clean import LATER, begin_load, clean
from twinhive.dump.sealed import open_sealed
from twinhive.model.errors import Refused, TwinhiveError, Unexplained, Unreachable


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
