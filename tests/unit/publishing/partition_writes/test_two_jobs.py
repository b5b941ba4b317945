"""A job is stopped after its switch, something becomes of its partition, and then it is cleared and goes on."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.hive.fake_metastore import InMemoryMetastore
from tests.unit.publishing.partition_writes.test_partition_writer import NAME, Written
from twinhive.core.model.errors import ActNow
from twinhive.publishing.partition_writes.job_directory import JobDirectory
from twinhive.publishing.partition_writes.partition_commit import Showing


class Killed(BaseException):
    """The process is no more."""


@pytest.fixture
def written() -> Written:
    found = Written()
    found.write({"a": ["old"]}, job="before")
    return found


def stopped_amid(written: Written, patch: pytest.MonkeyPatch, kind: type, step: str, values: str = "a") -> None:
    def killed(*_: object, **__: object) -> None:
        raise Killed

    with patch.context() as amid:
        amid.setattr(kind, step, killed)
        with pytest.raises(Killed):
            written.write({value: ["one"] for value in values}, "overwrite", "one")


@pytest.mark.parametrize(("kind", "step"), [(Showing, "_tell"), (JobDirectory, "keep_shown")])
def test_an_overwrite_that_goes_on_after_another_one_leaves_the_newer_rows(
    written: Written, monkeypatch: pytest.MonkeyPatch, kind: type, step: str
) -> None:
    stopped_amid(written, monkeypatch, kind, step)
    assert written.rows() == {"a": ["one"]}
    written.write({"a": ["two"]}, "overwrite", "two")
    events = written.events()
    for _ in range(2):
        with pytest.raises(ActNow, match=r"p=a of sales\.days is not shown: what this job has written is gone"):
            written.write({"a": ["one"]}, "overwrite", "one")
    assert (written.rows(), written.events()) == ({"a": ["two"]}, events)
    written.follow()
    written.follow()  # the switch of which nothing was told may have frozen the table for one run
    written.assert_twin()


def drop(written: Written) -> None:
    (place,) = (one.location or "" for one in written.world.source.partitions(NAME, ["p=b"]))
    written.world.source.drop_partitions(NAME, ["p=b"], delete_data=True)
    ((_, children),) = written.world.source_files.list_directories([place])
    for child in children or ():
        written.world.source_files.delete_file(child.path)


def cut(written: Written) -> None:
    (place,) = (one.location or "" for one in written.world.source.partitions(NAME, ["p=b"]))
    written.world.source.drop_partitions(NAME, ["p=b"], delete_data=False)
    ((_, children),) = written.world.source_files.list_directories([place])
    for child in children or ():
        written.world.source_files.put(child.path, b"")


@pytest.mark.parametrize("change", [drop, cut])
def test_a_new_partition_that_was_taken_away_with_its_files_is_not_shown_without_them(
    written: Written, monkeypatch: pytest.MonkeyPatch, change: Callable[[Written], None]
) -> None:
    stopped_amid(written, monkeypatch, JobDirectory, "keep_shown", "b")
    change(written)
    with pytest.raises(ActNow, match="what this job has written is gone"):
        written.write({"b": ["one"]}, "overwrite", "one")
    assert written.rows() == {"a": ["old"]}


def test_a_partition_that_was_dropped_and_whose_files_are_there_is_shown_again(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_amid(written, monkeypatch, JobDirectory, "keep_shown", "b")
    written.world.source.drop_partitions(NAME, ["p=b"], delete_data=False)
    written.write({"b": ["one"]}, "overwrite", "one")
    assert written.rows() == {"a": ["old"], "b": ["one"]}


@pytest.mark.parametrize(
    ("kind", "step"), [(InMemoryMetastore, "alter_partitions"), (Showing, "_tell"), (JobDirectory, "keep_shown")]
)
def test_a_replaced_partition_that_was_dropped_is_shown_again_and_comes_to_its_end(
    written: Written, monkeypatch: pytest.MonkeyPatch, kind: type, step: str
) -> None:
    stopped_amid(written, monkeypatch, kind, step, "ab")
    written.world.source.drop_partitions(NAME, ["p=a"], delete_data=False)
    done = written.write({"a": ["one"], "b": ["one"]}, "overwrite", "one")
    assert (done.shown.new, done.shown.replaced) == (1, 1)
    assert written.rows() == {"a": ["one"], "b": ["one"]}
    for _ in range(2):
        written.follow()
    written.assert_twin()


def test_a_partition_that_was_renamed_before_its_switch_keeps_its_rows(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of an external table keeps its directory when it is renamed."""
    stopped_amid(written, monkeypatch, InMemoryMetastore, "alter_partitions")
    (partition,) = written.world.source.partitions(NAME, ["p=a"])
    written.world.source.drop_partitions(NAME, ["p=a"], delete_data=False)
    written.world.source.add_partitions([replace(partition, values=("z",))])
    written.write({"a": ["one"]}, "overwrite", "one")
    assert written.rows() == {"a": ["one"], "z": ["old"]}


def test_whether_files_are_there_is_asked_once_for_all_directories(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_amid(written, monkeypatch, Showing, "_call", "ab")
    asked: list[list[str]] = []
    real = written.world.source_files.list_directories

    def listed(paths: list[str]) -> object:
        asked.append(list(paths))
        return real(paths)

    monkeypatch.setattr(written.world.source_files, "list_directories", listed)
    written.write({"a": ["one"], "b": ["one"]}, "overwrite", "one")
    places = [one.location for one in written.world.source.partitions(NAME, ["p=a", "p=b"])]
    assert sorted(map(str, places)) in map(sorted, asked)
