"""A metastore that was restored keeps its log's id: what was remembered of the log that it had is not believed."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from tests.support.worlds.fake_world import LISTENER, REPLICA_ADDRESS, backup
from tests.unit.replication.verify.test_verify import (
    ORDERS,
    PLAIN,
    Damage,
    file_of,
    parameter,
    partition_parameter,
    write,
)
from tests.unit.replication.verify.verifying import Verifying
from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import join
from twinhive.core.model.names import TableName
from twinhive.core.ports import children
from twinhive.replication.comparison.leaf_reader import SideRole
from twinhive.replication.verify import table_verdicts
from twinhive.replication.verify.ledger_files import verify_directory


@pytest.fixture
def verifying() -> Verifying:
    return Verifying(replica_keeps_log=True)


def damaged_and_mended(v: Verifying, damage: Damage) -> Callable[[], None]:
    """Damage the replica, mend it by hand; return what restores a backup of the time in between."""
    table, partitions = v.world.replica.table(PLAIN), v.world.replica.partitions(ORDERS, ["p=a b"])
    damage(v)
    restore = backup(v.world.replica)
    v.world.replica.alter_table(PLAIN, table)
    v.world.replica.alter_partitions(partitions)
    return restore


def forget_what_events_were(v: Verifying) -> None:
    """Let all ledgers be as they were written before the newest event that they may know of stood in them."""
    files = v.world.ports().replica_files
    for role in SideRole:
        for child in children(files, join(verify_directory(v.followed.policy), role.value)):
            head, newline, body = files.read(child.path).partition(b"\n")
            if child.path.endswith(".ledger"):
                kept = {key: value for key, value in json.loads(head).items() if key != "until"}
                files.write(child.path, json.dumps(kept).encode() + newline + body)


def other_events(v: Verifying, count: int) -> None:
    table = v.world.replica.table(TableName("sales", "empty"))
    for _ in range(count):
        v.world.replica.alter_table(table.name, table)


DAMAGES = pytest.mark.parametrize("damage", [parameter, partition_parameter])


@DAMAGES
@pytest.mark.parametrize("grows", [0, 2, 40])
@pytest.mark.parametrize("looked_before", [False, True])
def test_damage_that_comes_back_with_a_backup_is_found(
    verifying: Verifying, damage: Damage, grows: int, looked_before: bool
) -> None:
    """The log is shorter than what is remembered, as long, or longer again with other events."""
    if looked_before:
        verifying.verify()
    restore = damaged_and_mended(verifying, damage)
    assert verifying.verify().is_equal
    restore()
    other_events(verifying, grows)
    verifying.next_night()
    assert len(verifying.findings()) == 1


@DAMAGES
@pytest.mark.parametrize("grows", [0, 1, 2, 3])
def test_also_where_single_tables_alone_were_verified(verifying: Verifying, damage: Damage, grows: int) -> None:
    restore = damaged_and_mended(verifying, damage)
    assert verifying.verify("plain", "orders").is_equal
    restore()
    other_events(verifying, grows)
    assert len(verifying.findings("plain", "orders")) == 1


@DAMAGES
def test_also_where_the_log_grows_past_what_is_remembered_while_it_is_read(
    verifying: Verifying, damage: Damage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twinhive.replication.verify.verification_run._TABLES_AT_ONCE", 1)
    restore = damaged_and_mended(verifying, damage)
    assert verifying.verify().is_equal
    restore()
    read_by_name = verifying.world.replica.tables

    def busy(*args: object) -> object:
        other_events(verifying, 5)
        return read_by_name(*args)

    monkeypatch.setattr(verifying.world.replica, "tables", busy)
    assert len(verifying.findings()) == 1


@DAMAGES
@pytest.mark.parametrize("by_earlier_version", [False, True])
@pytest.mark.parametrize("comes", ["before its table is looked at", "while it is"])
def test_also_where_it_is_restored_to_an_event_that_came_while_it_was_verified(
    verifying: Verifying, damage: Damage, comes: str, by_earlier_version: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event that the night began with is still there, and others have the numbers of those that came meanwhile."""
    monkeypatch.setattr("twinhive.replication.verify.verification_run._TABLES_AT_ONCE", 1)
    replica, restores = verifying.world.replica, list[Callable[[], None]]()
    table, partitions = replica.table(PLAIN), replica.partitions(ORDERS, ["p=a b"])
    damage(verifying)
    read_by_name = replica.tables
    damaged = "plain" if damage is parameter else "orders"

    def mended_meanwhile(database: str, names: list[str]) -> object:
        if not restores and (comes != "while it is" or damaged in names):
            restores.append(backup(replica))
            replica.alter_table(PLAIN, table)
            replica.alter_partitions(partitions)
        return read_by_name(database, names)

    monkeypatch.setattr(replica, "tables", mended_meanwhile)
    assert verifying.verify().is_equal
    if by_earlier_version:
        forget_what_events_were(verifying)
    restores[0]()
    other_events(verifying, 40)
    verifying.next_night()
    assert len(verifying.findings()) == 1


def test_what_the_new_log_tells_is_believed_from_the_next_night_on(verifying: Verifying) -> None:
    restore = backup(verifying.world.replica)
    other_events(verifying, 3)
    verifying.verify()
    restore()
    assert verifying.verify().read > verifying.verify().read


def test_checksums_that_were_known_stay_known_where_a_directory_is_as_it_was(verifying: Verifying) -> None:
    restore = backup(verifying.world.replica)
    other_events(verifying, 3)
    assert verifying.verify(deep=True).with_checksums == 3
    restore()
    assert verifying.verify().with_checksums == 3
    write(verifying, file_of(verifying, PLAIN, None, "data"), b"nialp")
    assert len(verifying.findings()) == 1


def test_a_log_that_nothing_came_to_is_known_when_its_events_are_too_old_to_be_kept(verifying: Verifying) -> None:
    verifying.verify()
    verifying.verify()
    for side in (verifying.world.source, verifying.world.replica):
        side.expire_events(side.current_event_id())
    assert [verifying.verify().read for _ in range(3)] == [2, 2, 2]


def expire_all(v: Verifying) -> None:
    for side in (v.world.source, v.world.replica):
        side.expire_events(side.current_event_id())


@pytest.mark.thorough
@DAMAGES
@pytest.mark.parametrize("grows", [0, 1, 2, 3, 40])
@pytest.mark.parametrize("verified_before", [False, True])
def test_also_where_all_of_its_events_were_too_old_to_be_kept(
    verifying: Verifying, damage: Damage, grows: int, verified_before: bool
) -> None:
    """The log is quiet and empty; the backup has rows of its numbers again."""
    restore = damaged_and_mended(verifying, damage)
    if verified_before:
        assert verifying.verify().is_equal
    expire_all(verifying)
    assert verifying.verify().is_equal
    restore()
    other_events(verifying, grows)
    verifying.next_night()
    assert len(verifying.findings()) == 1


@DAMAGES
def test_also_where_another_verification_has_seen_more_of_the_table(
    verifying: Verifying, damage: Damage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two verify at once: what one of them read after the other's last look at the log is what both ledgers hold."""
    assert verifying.verify().is_equal
    replica, restores, calls = verifying.world.replica, list[Callable[[], None]](), list[int]()
    table, partitions = replica.table(PLAIN), replica.partitions(ORDERS, ["p=a b"])
    damage(verifying)
    read_by_name = replica.tables

    def tables(database: str, names: list[str]) -> object:
        calls.append(1)
        if len(calls) == 1:
            verifying.verify("plain" if damage is parameter else "orders")
        elif len(calls) == 2:
            restores.append(backup(replica))
            replica.alter_table(PLAIN, table)
            replica.alter_partitions(partitions)
        return read_by_name(database, names)

    monkeypatch.setattr(replica, "tables", tables)
    verifying.verify()
    restores[0]()
    other_events(verifying, 40)
    verifying.next_night()
    assert len(verifying.findings()) == 1


@DAMAGES
def test_also_where_it_is_restored_after_a_table_was_read(
    verifying: Verifying, damage: Damage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest event by then is the restored log's, and the ledger is of what there was before."""
    assert verifying.verify().is_equal
    monkeypatch.setattr("twinhive.replication.verify.verification_run._TABLES_AT_ONCE", 1)
    restores = list[Callable[[], None]]()
    damaged = "plain" if damage is parameter else "orders"
    read_by_name, compared = verifying.world.replica.tables, table_verdicts.compare

    def tables(database: str, names: list[str]) -> object:
        if not restores:
            restores.append(damaged_and_mended(verifying, damage))
        return read_by_name(database, names)

    def compare(*read: Any) -> Any:
        found = compared(*read)
        if read[-1] == damaged and len(restores) == 1:
            restores.append(restores[0])
            restores[0]()
            other_events(verifying, 40)
        return found

    monkeypatch.setattr(verifying.world.replica, "tables", tables)
    monkeypatch.setattr("twinhive.replication.verify.verification_run.compare", compare)
    with suppress(ActNow):  # the log has shrunk while it was read
        verifying.verify()
    verifying.next_night()
    assert len(verifying.findings()) == 1


@DAMAGES
def test_what_was_damaged_before_a_log_was_kept_is_found_in_the_first_night_with_one(
    verifying: Verifying, damage: Damage
) -> None:
    listeners = verifying.world.replica.configurations[REPLICA_ADDRESS]
    listeners["metastore.transactional.event.listeners"] = ""
    assert verifying.verify().is_equal
    log = verifying.world.replica._log
    rows, last = list(log.rows), log.last_event_id
    damage(verifying)
    log.rows, log.last_event_id = rows, last
    listeners["metastore.transactional.event.listeners"] = LISTENER
    other_events(verifying, 2)
    verifying.next_night()
    assert len(verifying.findings()) == 1


def test_the_newest_event_is_fetched_once_however_many_tables_are_read(
    verifying: Verifying, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        verifying.users.create_table(f"more{number}")
    verifying.followed.follow()
    asked, events_after = list[int](), verifying.world.replica.events_after

    def counted(after: int, most: int) -> object:
        asked.append(after)
        return events_after(after, most)

    monkeypatch.setattr(verifying.world.replica, "events_after", counted)
    assert verifying.verify().read > 40
    assert len(asked) < 10
