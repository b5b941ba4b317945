"""A job is stopped amid showing, others change what it has shown at its very place, and then it goes on."""

from typing import Any

import pytest

from tests.unit.publishing.partition_writes.test_partition_writer import NAME, Written
from tests.unit.publishing.partition_writes.test_two_jobs import stopped_amid
from twinhive.core.model.errors import ActNow
from twinhive.publishing.partition_writes.job_directory import JobDirectory
from twinhive.publishing.partition_writes.partition_commit import Showing

AMID = [(Showing, "_tell"), (JobDirectory, "keep_shown")]


@pytest.fixture
def written() -> Written:
    found = Written()
    found.write({"a": ["old"], "c": ["old"]}, job="before")
    return found


def place_of(written: Written, value: str) -> str:
    (partition,) = written.world.source.partitions(NAME, [f"p={value}"])
    return partition.location or ""


def overwrite_in_place(written: Written, value: str) -> None:
    """Do what INSERT OVERWRITE of Hive does: the partition stays where it is."""
    files, place = written.world.source_files, place_of(written, value)
    ((_, children),) = files.list_directories([place])
    for child in children or ():
        files.delete_file(child.path)
    files.put(f"{place}/000000_0", b"hive")


def again(written: Written, values: str, mode: Any = "overwrite") -> str:
    with pytest.raises(ActNow) as refused:
        written.write({value: ["one"] for value in values}, mode, "one")
    return str(refused.value)


@pytest.mark.parametrize(("kind", "step"), AMID)
def test_a_partition_that_hive_has_overwritten_in_place_keeps_its_rows(
    written: Written, monkeypatch: pytest.MonkeyPatch, kind: type, step: str
) -> None:
    stopped_amid(written, monkeypatch, kind, step)
    overwrite_in_place(written, "a")
    events = written.events()
    for _ in range(2):
        said = again(written, "a")
        assert "p=a of sales.days is not shown: what this job has written is gone" in said
        assert "found:" in said and "next:" in said
    assert (written.rows()["a"], written.events()) == (["hive"], events)


def test_a_new_partition_that_hive_has_overwritten_in_place_is_not_said_to_be_shown(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_amid(written, monkeypatch, JobDirectory, "keep_shown", "b")
    overwrite_in_place(written, "b")
    assert "p=b of sales.days is not shown" in again(written, "b")
    assert written.rows()["b"] == ["hive"]


@pytest.mark.parametrize(("kind", "step"), AMID)
def test_those_that_are_whole_are_told_and_their_old_files_go(
    written: Written, monkeypatch: pytest.MonkeyPatch, kind: type, step: str
) -> None:
    written.follow()
    before = place_of(written, "c")
    stopped_amid(written, monkeypatch, kind, step, "ac")
    written.write({"a": ["two"]}, "overwrite", "two")
    events = len(written.events())
    said = again(written, "ac")
    assert "p=a of sales.days is not shown" in said and "p=c" not in said
    assert written.events()[events:] == ["INSERT"]
    assert not [path for path in written.world.source_files.paths() if path.startswith(f"{before}/")]
    assert written.rows() == {"a": ["two"], "c": ["one"]}
    for _ in range(3):
        written.follow()
    written.assert_twin()


def test_what_was_not_shown_yet_is_not_shown_by_a_job_that_is_refused(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_amid(written, monkeypatch, Showing, "_replace", "abc")
    overwrite_in_place(written, "b")
    assert "p=b of sales.days is not shown" in again(written, "abc")
    assert written.rows() == {"a": ["old"], "b": ["hive"], "c": ["old"]}


def test_what_was_appended_before_one_is_gone_is_told(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    rows = {"a": ["one"], "b": ["one"]}
    with monkeypatch.context() as amid:
        amid.setattr(Showing, "_tell", killed)
        with pytest.raises(KeyboardInterrupt):
            written.write(rows, "append", "one")
    overwrite_in_place(written, "b")
    events = len(written.events())
    assert "p=b of sales.days is not shown" in again(written, "ab", "append")
    assert written.events()[events:] == ["INSERT"]
    assert (sorted(written.rows()["a"]), written.rows()["b"]) == (["old", "one"], ["hive"])


def test_all_that_are_gone_are_named(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped_amid(written, monkeypatch, JobDirectory, "keep_shown", "ac")
    for value in "ac":
        overwrite_in_place(written, value)
    said = again(written, "ac")
    assert "p=a, p=c of sales.days is not shown" in said and "2 files of 2 partitions" in said


def test_one_that_was_switched_and_then_dropped_with_its_files_is_named(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_amid(written, monkeypatch, Showing, "_tell", "ac")
    place = place_of(written, "a")
    written.world.source.drop_partitions(NAME, ["p=a"], delete_data=False)
    ((_, children),) = written.world.source_files.list_directories([place])
    for child in children or ():
        written.world.source_files.delete_file(child.path)
    assert "p=a of sales.days is not shown" in again(written, "ac")
    assert written.rows() == {"c": ["one"]}
