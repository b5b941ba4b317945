"""Clean the dumps of statements by age, and keep what a replica needs."""

from dataclasses import replace

import pytest

from tests.support.hdfs.fake_trash import TRASH
from tests.support.worlds.copies import copies_of
from tests.support.worlds.fake_world import Killable, Killed, KillSwitch
from tests.support.worlds.repl_world import ReplWorld
from twinhive.core.model.errors import ActNow, Unexplained, Unreachable
from twinhive.core.model.files import Attributes
from twinhive.core.ports import FileWriter
from twinhive.replication.dump.loader_notes import LoaderNote, loader_notes, note_loading
from twinhive.replication.dump.repl_dump_description import open_sealed
from twinhive.statements.steps.repl_clean import DumpCleaner, IsGone
from twinhive.statements.steps.repl_dump_options import Dumped

DAY = 86_400.0
# After whatever a file system in memory says of its files.
LATER = 2_000_000_000.0
DUMPS = "hdfs://east/user/hive/repl/sales"


@pytest.fixture
def repl() -> ReplWorld:
    return ReplWorld()


def there(note: LoaderNote) -> bool:
    return False


def gone(note: LoaderNote) -> bool:
    return True


def clean(repl: ReplWorld, now: float, is_gone: IsGone = there, files: FileWriter | None = None) -> list[str]:
    cleaner = DumpCleaner(files or repl.world.source_files, DUMPS, DAY, now, is_gone, repl.log.append)
    return cleaner.run()


def begin_load(repl: ReplWorld, directory: str, event_id: int) -> None:
    policy = replace(repl.policy(), dump_directory=directory)
    note_loading(repl.world.source_files, policy, "log-east", event_id)


def test_dumps_older_than_their_time_are_removed(repl: ReplWorld) -> None:
    dumped = repl.dump()
    assert clean(repl, DAY) == []
    assert clean(repl, DAY + 2) == [dumped.directory]
    assert repl.world.source_files.status(dumped.directory) is None


def test_a_dump_that_is_being_loaded_is_kept(repl: ReplWorld) -> None:
    dumped = repl.dump()
    begin_load(repl, dumped.directory, dumped.last_event)
    assert clean(repl, 10 * DAY) == []
    assert "west/sales needs it" in repl.log[-1]


def test_a_dump_that_a_known_replica_has_not_reached_is_kept_until_it_has(repl: ReplWorld) -> None:
    first = repl.dump()
    repl.load(first)
    repl.load(first, "spoke")
    repl.users.create_table("made")
    second = repl.dump(first.last_event)
    repl.load(second)
    assert clean(repl, 10 * DAY) == [first.directory]
    assert clean(repl, 20 * DAY) == []
    assert open_sealed(repl.world.source_files, second.directory)
    repl.load(second, "spoke")
    assert clean(repl, 10 * DAY) == [second.directory]


def test_nor_is_it_removed_when_nobody_knows_the_answer_to_what_it_is(
    repl: ReplWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = repl.dump()
    repl.load(first)
    repl.users.create_table("made")
    needed = repl.dump(first.last_event)
    files = repl.world.source_files
    read = files.read

    def read_oddly(path: str) -> bytes:
        if path == f"{needed.directory}/repl.json":
            raise Unexplained(f"{path}: refused")
        return read(path)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(files, "read", read_oddly)
        assert clean(repl, LATER + 10 * DAY) == [first.directory]
    assert files.status(needed.directory) is not None


def test_what_a_killed_dump_left_is_removed_by_its_age(repl: ReplWorld) -> None:
    dumped = repl.dump()
    repl.world.source_files.delete(f"{dumped.directory}/repl.json")
    assert clean(repl, 10**12) == [dumped.directory]


def test_directories_of_somebody_else_beside_the_dumps_are_not_touched(repl: ReplWorld) -> None:
    files = repl.world.source_files
    dumped = repl.dump()
    token = "0123456789abcdef" * 2
    for name in ("orders", "clicks", token, f"_removing-{token}", "_removing-orders"):
        files.put(f"{DUMPS}/{name}/part-0", b"a year of rows")
    kept = [path for path in files.paths() if path.endswith("/part-0")]
    assert clean(repl, 10**12) == [dumped.directory]
    assert [path for path in files.paths() if path.endswith("/part-0")] == kept
    said = sorted(line for line in repl.log if "nothing says that twinhive has made it" in line)
    assert said == [
        f"kept, nothing says that twinhive has made it: {DUMPS}/{token}",
        f"kept, nothing says that twinhive has made it: {DUMPS}/_removing-{token}",
    ]


def test_a_dump_goes_to_the_trash_and_one_without_its_mark_stays(repl: ReplWorld) -> None:
    files = repl.world.source_files
    dumped, unmarked = repl.dump(), repl.dump()
    files.set_attributes(unmarked.directory, Attributes(extended={}))
    files.keeps_trash = True
    assert clean(repl, 10**12) == [dumped.directory]
    assert files.status(f"{unmarked.directory}/repl.json")
    assert any(path.endswith("/repl.json") and TRASH in path for path in files.paths())


def test_a_load_that_begins_while_its_dump_is_removed_gets_it_back(repl: ReplWorld) -> None:
    dumped = repl.dump()
    files = repl.world.source_files
    rename = files.rename

    def renamed_beneath_a_load(source: str, target: str) -> bool:
        begin_load(repl, source, dumped.last_event)
        return rename(source, target)

    files.rename = renamed_beneath_a_load
    assert clean(repl, 10 * DAY) == []
    files.rename = rename
    assert open_sealed(files, dumped.directory)


def notes(repl: ReplWorld) -> list[LoaderNote]:
    return [found.note for found in loader_notes(repl.world.source_files, DUMPS)]


def test_the_note_of_a_replica_that_is_gone_is_removed_with_the_dumps_that_it_kept(repl: ReplWorld) -> None:
    first = repl.dump()
    repl.load(first)
    repl.load(first, "spoke")
    repl.users.create_table("made")
    second = repl.dump(first.last_event)
    repl.load(second)
    repl.users.create_table("made_later")
    third = repl.dump(second.last_event)
    asked: list[LoaderNote] = []

    def spoke_is_gone(note: LoaderNote) -> bool:
        asked.append(note)
        return note.replica == "west/spoke"

    assert clean(repl, LATER, spoke_is_gone) == [first.directory, second.directory]
    assert [note.replica for note in notes(repl)] == ["west/sales"]
    assert sorted(note.replica for note in asked) == ["west/sales", "west/spoke"]
    repl.load(third)
    assert clean(repl, LATER, spoke_is_gone) == [third.directory]
    assert any("west/spoke is gone" in line for line in repl.log)


def test_a_note_says_by_which_marks_the_replica_can_be_asked_for(repl: ReplWorld) -> None:
    dumped = repl.dump()
    repl.load(dumped)
    (note,) = notes(repl)
    policy, source = repl.policy(), repl.world.source
    assert note == LoaderNote("west/sales", dumped.last_event, None, policy.name, source.log_id(), policy.staging)


def test_a_note_that_cannot_be_read_is_an_error_and_no_dump_is_removed(repl: ReplWorld) -> None:
    dumped = repl.dump()
    repl.world.source_files.write(f"{DUMPS}/_loaders/west.sales.json", b'{"replica": "west/sales", "of": "later"}')
    with pytest.raises(ActNow, match="was not written by this version"):
        clean(repl, LATER)
    assert open_sealed(repl.world.source_files, dumped.directory)


def test_nobody_is_asked_for_whose_note_is_younger_than_the_time_or_keeps_nothing(repl: ReplWorld) -> None:
    def never(note: LoaderNote) -> bool:
        pytest.fail(f"{note.replica} was asked for")

    dumped = repl.dump()
    begin_load(repl, dumped.directory, 0)
    (found,) = loader_notes(repl.world.source_files, DUMPS)
    assert clean(repl, found.file.modified_ms / 1000 + DAY, never) == []
    repl.load(dumped)
    assert clean(repl, LATER, never) == [dumped.directory]


def test_where_nobody_knows_whether_a_replica_is_there_the_dump_is_kept_and_that_is_said(repl: ReplWorld) -> None:
    def unknown(note: LoaderNote) -> bool:
        raise Unreachable("the metastore of west does not answer")

    dumped = repl.dump()
    begin_load(repl, dumped.directory, 0)
    assert clean(repl, LATER, unknown) == []
    assert len(notes(repl)) == 1
    assert "cannot tell whether west/sales still needs any: the metastore of west does not answer" in repl.log[-2]


def test_a_load_that_begins_while_its_note_is_judged_keeps_note_and_dump(repl: ReplWorld) -> None:
    dumped = repl.dump()
    begin_load(repl, dumped.directory, 0)

    def gone_before_it_begins_anew(note: LoaderNote) -> bool:
        begin_load(repl, dumped.directory, 0)
        return True

    assert clean(repl, LATER, gone_before_it_begins_anew) == []
    assert [found.file.path for found in loader_notes(repl.world.source_files, DUMPS)] == [
        f"{DUMPS}/_loaders/west.sales.json"
    ]
    assert open_sealed(repl.world.source_files, dumped.directory)


def test_a_note_that_a_load_writes_over_one_that_is_being_put_back_wins(repl: ReplWorld) -> None:
    dumped = repl.dump()
    begin_load(repl, dumped.directory, 0)
    files = repl.world.source_files
    rename = files.rename

    def written_before_and_after(source: str, target: str) -> bool:
        if "_loaders" not in source:
            return rename(source, target)
        begin_load(repl, dumped.directory, 5)
        done = rename(source, target)
        begin_load(repl, dumped.directory, 7)
        return done

    files.rename = written_before_and_after
    assert clean(repl, LATER, gone) == []
    files.rename = rename
    assert [note.event_id for note in notes(repl)] == [7]


@pytest.mark.parametrize("after_effect", [False, True], ids=["before", "after"])
def test_a_cleaning_killed_at_any_change_leaves_what_the_next_one_removes(after_effect: bool) -> None:
    repl = ReplWorld()
    dumped = repl.dump()
    begin_load(repl, dumped.directory, 0)
    copy, at = copies_of(repl), 1
    while True:
        repl = copy()
        switch = KillSwitch(at, after_effect=after_effect)
        try:
            clean(repl, LATER, gone, Killable(repl.world.source_files, switch))
        except Killed:
            assert_loadable_or_gone(repl, dumped)
            clean(repl, LATER, gone)
        assert below_dumps(repl) == []
        if switch.count < at:
            return
        at += 1


def assert_loadable_or_gone(repl: ReplWorld, dumped: Dumped) -> None:
    if repl.world.source_files.status(dumped.directory) is not None:
        assert open_sealed(repl.world.source_files, dumped.directory)


def below_dumps(repl: ReplWorld) -> list[str]:
    return [path for path in repl.world.source_files.paths() if path.startswith(f"{DUMPS}/")]
