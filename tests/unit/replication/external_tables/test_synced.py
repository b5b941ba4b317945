"""A record says what is complete: of a directory, of all that lies in it, and up to which event."""

from dataclasses import asdict, replace

import pytest

from tests.support.builders import a_policy, an_external
from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import Missing
from twinhive.core.model.files import parent
from twinhive.core.model.names import TableName
from twinhive.core.ports import TreePorts
from twinhive.replication.dump.log_point import LogPoint
from twinhive.replication.dump.passes.external_entries import Entry
from twinhive.replication.external_tables.sync_directory import DirectorySync, Moment
from twinhive.replication.replica.sync_records import (
    Synced,
    SyncedEntry,
    forget_synced,
    write_synced,
    write_unchanged,
)

POLICY = a_policy(external=an_external(stay=("hdfs://east/shared/.*",)))
PLACE = "hdfs://east/data/events"
ENTRY = SyncedEntry(PLACE, "hdfs://west/ext/data/events", event_id=100, at=50.0, began=40.0, files=7)


@pytest.fixture
def files() -> InMemoryFiles:
    files = InMemoryFiles("hdfs://west")
    write_synced(files, POLICY, ENTRY)
    return files


@pytest.mark.parametrize(
    ("location", "event_id", "covered"),
    [
        (PLACE, 100, True),
        (PLACE, 99, True),
        (PLACE, 101, False),
        (f"{PLACE}/day=1/hour=2", 100, True),
        (f"{PLACE}/day=1", 101, False),
        (f"{PLACE}2", 1, False),
        ("hdfs://east/data", 1, False),
        ("hdfs://east/", 1, False),
        ("hdfs://west/data/events", 1, False),
    ],
)
def test_what_is_there(files: InMemoryFiles, location: str, event_id: int, covered: bool) -> None:
    assert Synced(files, POLICY).covers(location, event_id) is covered


def test_when_it_was_copied(files: InMemoryFiles) -> None:
    synced = Synced(files, POLICY)
    assert synced.has(f"{PLACE}/day=1", lambda one: one.began >= 40.0)
    assert not synced.has(PLACE, lambda one: one.began >= 40.1)


def test_the_newest_of_several_around_a_location_counts(files: InMemoryFiles) -> None:
    inner = f"{PLACE}/day=1"
    write_synced(files, POLICY, replace(ENTRY, source=inner, target=f"{ENTRY.target}/day=1", event_id=7))
    synced = Synced(files, POLICY)
    assert synced.covers(inner, 100)
    record = synced.record_of(inner)
    assert record is not None
    assert record.event_id == 7


def test_a_later_look_moves_the_record_on_and_a_later_copy_replaces_both(files: InMemoryFiles) -> None:
    seen = replace(ENTRY, event_id=120, at=70.0, began=60.0, changed=False, failover="t")
    write_unchanged(files, POLICY, seen)
    assert Synced(files, POLICY).record_of(PLACE) == seen
    again = replace(ENTRY, event_id=130)
    write_synced(files, POLICY, again)
    assert Synced(files, POLICY).record_of(PLACE) == again
    with pytest.raises(Missing):
        write_unchanged(files, POLICY, replace(ENTRY, source="hdfs://east/other"))


def test_what_was_copied_to_another_place_than_it_belongs_now_does_not_count(files: InMemoryFiles) -> None:
    for changed in (
        an_external(base_directory="hdfs://west/elsewhere"),
        an_external(stay=("hdfs://east/data/.*",)),
        an_external(data="metadata_only"),
        an_external(source_root="hdfs://north"),
    ):
        synced = Synced(files, replace(POLICY, external=changed))
        assert not synced.covers(PLACE, 1)
        assert synced.given(PLACE, asdict(ENTRY)) is None


def test_a_look_counts_from_before_its_listing(files: InMemoryFiles) -> None:
    moment = Moment(LogPoint(Position(120)), at=60.0, failover="t")
    seen = DirectorySync(
        Entry(TableName("sales", "events"), "", PLACE), POLICY, TreePorts(*[None] * 4), moment, ENTRY
    ).seen()  # type: ignore
    assert (seen.event_id, seen.began, seen.failover) == (120, 60.0, "t")


def test_nothing_was_copied_yet_and_what_is_forgotten(files: InMemoryFiles) -> None:
    assert not Synced(InMemoryFiles("hdfs://west"), POLICY).covers(PLACE, 0)
    forget_synced(files, POLICY, PLACE)
    assert Synced(files, POLICY).record_of(PLACE) is None


def test_only_the_records_asked_for_are_read(files: InMemoryFiles) -> None:
    for number in range(50):
        source = f"hdfs://east/data/t{number}"
        write_synced(files, POLICY, replace(ENTRY, source=source, target=f"hdfs://west/ext/data/t{number}"))
    files.calls.clear()
    synced = Synced(files, POLICY)
    for _ in range(3):
        assert synced.covers(f"{PLACE}/a/b/c", 1)
        assert not synced.covers("hdfs://east/nothing", 1)
    assert files.calls["read"] == 1
    assert files.calls["list_directories"] <= 3, "the top, and a directory of each of two locations"


def test_no_directory_holds_all_records(files: InMemoryFiles) -> None:
    for number in range(500):
        write_synced(files, POLICY, replace(ENTRY, source=f"hdfs://east/data/t{number}"))
    below = f"{POLICY.staging}/external/synced"
    assert len(set(map(parent, files.paths()))) > 200
    ((_, top),) = files.list_directories([below])
    assert len(top or ()) <= 256
