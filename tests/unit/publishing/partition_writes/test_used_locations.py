"""What a partition had before is not taken away where another partition of the table lies there, or below it."""

from dataclasses import replace

import pytest

from tests.unit.publishing.partition_writes.test_overwritten_in_place import AMID, place_of
from tests.unit.publishing.partition_writes.test_partition_writer import NAME, Written
from tests.unit.publishing.partition_writes.test_two_jobs import stopped_amid
from twinhive.publishing.partition_writes.partition_commit import Showing
from twinhive.publishing.partition_writes.used_locations import PlacesInUse


@pytest.fixture
def written() -> Written:
    found = Written()
    found.write({"a": ["old"]}, job="before")
    return found


def add_at(written: Written, value: str, place: str) -> None:
    (partition,) = written.world.source.partitions(NAME, ["p=a"])
    written.world.source.add_partitions([replace(partition, values=(value,), location=place)])


def test_a_place_that_two_partitions_share_keeps_its_files(written: Written) -> None:
    add_at(written, "b", place_of(written, "a"))
    written.write({"a": ["one"]}, "overwrite", "one")
    assert written.rows() == {"a": ["one"], "b": ["old"]}


def test_a_place_below_which_another_partition_lies_keeps_its_files(written: Written) -> None:
    place = place_of(written, "a")
    written.world.source_files.put(f"{place}/sub/f", b"below")
    add_at(written, "b", f"{place}/sub")
    written.write({"a": ["one"]}, "overwrite", "one")
    assert written.rows() == {"a": ["one"], "b": ["below"]}
    assert written.world.source_files.status(f"{place}/sub/f") is not None


@pytest.mark.parametrize(("kind", "step"), AMID)
def test_a_place_that_another_partition_was_given_while_the_job_was_stopped_keeps_its_files(
    written: Written, monkeypatch: pytest.MonkeyPatch, kind: type, step: str
) -> None:
    before = place_of(written, "a")
    with monkeypatch.context() as amid:
        amid.setattr(Showing, "_clear", lambda *_: None)
        stopped_amid(written, monkeypatch, kind, step)
    add_at(written, "z", before)
    written.write({"a": ["one"]}, "overwrite", "one")
    assert written.rows() == {"a": ["one"], "z": ["old"]}


def test_the_places_are_asked_for_once_for_all_that_is_replaced(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    written.write({"b": ["old"]}, job="another")
    asked: list[object] = []
    real = written.world.source.partition_locations

    def located(table: object) -> object:
        asked.append(table)
        return real(table)

    monkeypatch.setattr(written.world.source, "partition_locations", located)
    written.write({"a": ["one"], "b": ["one"], "c": ["one"]}, "overwrite", "one")
    assert len(asked) == 1


def test_a_name_that_only_begins_alike_is_another_directory() -> None:
    used = PlacesInUse(["h/t/p=1!", "h/t/p=10", "h/t/p=2/sub"])
    assert [used.hold(place) for place in ("h/t/p=1", "h/t/p=10", "h/t/p=2", "h/t/p=3")] == [False, True, True, False]


def test_a_port_of_hdfs_may_be_named_in_one_place_and_left_out_in_the_other() -> None:
    used = PlacesInUse.of(["hdfs://w:8020/t/x", "hdfs://w/t/y/sub", "s3a://w:1/t/z"])
    held = ("hdfs://w/t/x", "hdfs://w:8020/t/x/", "hdfs://w:8020/t/y")
    free = ("hdfs://v/t/x", "hdfs://w/t/xy", "s3a://w/t/z")
    assert [used.hold(place) for place in (*held, *free)] == [True] * 3 + [False] * 3
