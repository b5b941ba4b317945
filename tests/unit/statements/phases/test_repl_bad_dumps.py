"""A dump that is wrong in one way is one clear error, and the replica stays what it was."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.worlds.memory_comparison import contents
from tests.support.worlds.repl_world import ReplWorld
from twinhive.core.model.errors import ActNow, Foreign, Missing, Unexplained
from twinhive.core.model.objects import Database
from twinhive.replication.dump.repl_dump_description import newest_sealed, open_sealed
from twinhive.replication.dump.shards import pack_lines, unpack_lines
from twinhive.statements.steps.repl_dump_options import Dumped

Dumping = Callable[[ReplWorld], Dumped]


def of_a_database(repl: ReplWorld) -> Dumped:
    return repl.dump()


def of_events(repl: ReplWorld) -> Dumped:
    repl.load(repl.dump())
    repl.users.insert("plain", None, [b"more"])
    repl.users.create_table("made", files=[b"one"])
    return repl.dump(repl.status())


both = pytest.mark.parametrize("dumping", [of_a_database, of_events], ids=["database", "events"])


@pytest.fixture
def repl() -> ReplWorld:
    return ReplWorld()


def state(repl: ReplWorld, *, with_staging: bool = True) -> tuple[Any, ...]:
    """Return what a refused dump may not change."""
    world = repl.world
    files = world.replica_files.paths()
    return (
        world.replica.database("sales"),
        world.replica.current_event_id(),
        contents(world.replica, world.replica_files) if world.replica.database("sales") else {},
        [path for path in files if with_staging or "/staging" not in path],
    )


def refused(repl: ReplWorld, dumped: Dumped, kind: type[ActNow]) -> ActNow:
    """Load; return the error, after a look at what may not have changed."""
    before = state(repl), repl.world.source_files.paths()
    with pytest.raises(kind) as caught:
        repl.load(dumped)
    assert (state(repl), repl.world.source_files.paths()) == before
    error = caught.value
    assert None not in (error.found, error.expected, error.next_step)
    assert dumped.directory in error.what
    return error


def part(repl: ReplWorld, dumped: Dumped, name: str) -> str:
    """Return the path of the first file of a dump with a part of its path."""
    return next(path for path in repl.world.source_files.paths() if dumped.directory in path and name in path)


@both
@pytest.mark.parametrize("name", ["/files/", "/batches/"])
def test_a_list_of_files_that_is_missing_is_named(repl: ReplWorld, dumping: Dumping, name: str) -> None:
    dumped = dumping(repl)
    path = part(repl, dumped, name)
    repl.world.source_files.delete(path)
    error = refused(repl, dumped, Missing)
    assert error.what.endswith("is not whole")
    assert str(error.found).endswith(f"; no {'/'.join(path.split('/')[-2:])}")
    assert error.next_step == "dump again: REPL DUMP sales"


def test_events_that_are_missing_are_named(repl: ReplWorld) -> None:
    dumped = of_events(repl)
    repl.world.source_files.delete(part(repl, dumped, "/events.jsonl.gz"))
    assert "; no events/events.jsonl.gz" in str(refused(repl, dumped, Missing).found)


@both
def test_a_part_that_is_cut_off_is_noticed(repl: ReplWorld, dumping: Dumping) -> None:
    dumped = dumping(repl)
    path = part(repl, dumped, "/files/")
    content = repl.world.source_files.read(path)
    repl.world.source_files.put(path, content[:-3])
    error = refused(repl, dumped, Missing)
    found, expected = (int(str(said).split(" files of ")[1].split()[0]) for said in (error.found, error.expected))
    assert expected - found == 3


@both
def test_a_dump_without_its_description_is_half_written(repl: ReplWorld, dumping: Dumping) -> None:
    dumped = dumping(repl)
    repl.world.source_files.delete(f"{dumped.directory}/repl.json")
    error = refused(repl, dumped, Missing)
    assert error.what.startswith("there is no finished dump in")
    assert error.found == "a dump that was never finished"


@both
def test_a_description_without_its_dump_is_half_a_dump(repl: ReplWorld, dumping: Dumping) -> None:
    dumped = dumping(repl)
    repl.world.source_files.delete(part(repl, dumped, "/dump.json"))
    assert str(refused(repl, dumped, Missing).found).endswith("/dump.json in it")


@both
@pytest.mark.parametrize("name", ["repl.json", "dump.json"])
def test_a_dump_of_another_version_says_which_format_was_found(repl: ReplWorld, dumping: Dumping, name: str) -> None:
    dumped = dumping(repl)
    path = part(repl, dumped, f"/{name}")
    said = json.loads(repl.world.source_files.read(path))
    repl.world.source_files.put(path, json.dumps({**said, "format": 99}).encode())
    error = refused(repl, dumped, ActNow)
    assert "format 99" in str(error.found)
    assert "format " in str(error.expected)
    assert "dump again" in str(error.next_step)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'"text"', b"null", b'{"format": 1}', b'{"format": 1, "x": 2}'])
def test_a_description_that_is_none_is_one_of_another_version(repl: ReplWorld, content: bytes) -> None:
    dumped = repl.dump()
    repl.world.source_files.put(f"{dumped.directory}/repl.json", content)
    assert "not written by this version" in refused(repl, dumped, ActNow).what
    with pytest.raises(ActNow, match="not written by this version"):
        newest_sealed(repl.world.source_files, dumped.directory.rpartition("/")[0])


@both
def test_a_file_with_other_content_of_the_same_length_is_not_loaded(repl: ReplWorld, dumping: Dumping) -> None:
    dumped = dumping(repl)
    table, content = ("made", b"ONE") if dumping is of_events else ("plain", b"PLAIN")
    (found,) = repl.world.source.tables("sales", [table])
    path = next(
        one
        for one in repl.world.source_files.paths()
        if one.startswith(f"{found.location}/") and repl.world.source_files.read(one) == content.lower()
    )
    checksum = _checksum_of(repl, dumped, path)
    repl.world.source_files.put(path, content)
    before = state(repl, with_staging=False)
    with pytest.raises(ActNow) as caught:
        repl.load(dumped)
    assert state(repl, with_staging=False) == before
    said = str(caught.value)
    assert f"{path}: a file of {len(content)} bytes with checksum" in said
    assert f"expected: a file with checksum {checksum}" in said


@both
def test_a_checksum_that_was_changed_in_the_list_is_not_loaded(repl: ReplWorld, dumping: Dumping) -> None:
    dumped = dumping(repl)
    files, path = repl.world.source_files, part(repl, dumped, "/files/")
    first, *others = unpack_lines(files.read(path))
    files.put(path, pack_lines([json.dumps({**json.loads(first), "checksum": "0" * 32}), *others]))
    assert refused(repl, dumped, Missing).what.endswith("is not whole")


def test_a_dump_that_is_read_with_an_answer_that_nobody_knows_is_not_made_again(
    repl: ReplWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    dumped = of_a_database(repl)
    files = repl.world.source_files
    read = files.read

    def read_oddly(path: str) -> bytes:
        if path.endswith("/dump.json"):
            raise Unexplained(f"{path}: refused", next_step="see the log")
        return read(path)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(files, "read", read_oddly)
        with pytest.raises(Unexplained) as caught:
            open_sealed(files, dumped.directory)
    assert caught.value.next_step == "see the log"
    assert open_sealed(files, dumped.directory)


def _checksum_of(repl: ReplWorld, dumped: Dumped, path: str) -> str:
    _, dump = open_sealed(repl.world.source_files, dumped.directory)
    lists = (repl.world.source_files.read(dump.layout.files(batch.name)) for batch in dump.manifest.batches)
    items = (json.loads(line) for one in lists for line in unpack_lines(one))
    return next(str(item["checksum"]) for item in items if item["path"] == path)


def test_a_replica_of_hives_that_the_dump_does_not_fit_keeps_hives_marks(repl: ReplWorld) -> None:
    repl.users.create_table("made")
    repl.users.create_table("made2")
    dumped = repl.dump(repl.world.source.current_event_id() - 1)
    made_by_hive = Database("sales", None, None, {"repl.last.id": "1"}, thrift="{}")
    repl.world.replica.create_database(made_by_hive)
    before = state(repl)
    with pytest.raises(ActNow, match="not as far as this dump begins"):
        repl.load(dumped)
    assert state(repl) == before


def test_a_database_of_another_policy_is_not_taken_for_one_of_hives(repl: ReplWorld) -> None:
    dumped = of_events(repl)
    parameters = {"repl.last.id": str(repl.status()), "twinhive.policy": "other", "twinhive.phase": "following"}
    repl.world.replica.set_database_parameters("sales", parameters)
    before = state(repl)
    with pytest.raises(Foreign, match="no replica that this statement can load"):
        repl.load(dumped)
    assert state(repl) == before


def test_a_refused_dump_leaves_the_source_unmarked(repl: ReplWorld) -> None:
    repl.users.create_table("made")
    before = repl.world.source.database("sales")
    with pytest.raises(ActNow, match="REPLACE brings tables"):
        repl.dump(1, replaces=(("none",), ()), limit=1)
    assert repl.world.source.database("sales") == before
