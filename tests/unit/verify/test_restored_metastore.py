"""A metastore that was restored keeps its log's id: what was remembered of the log that it had is not believed."""

from collections.abc import Callable

import pytest

from tests.support.worlds.fake_world import backup
from tests.unit.verify.test_verify import ORDERS, PLAIN, Damage, file_of, parameter, partition_parameter, write
from tests.unit.verify.verifying import Verifying
from twinhive.model.names import TableName


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
def test_also_where_single_tables_alone_were_verified(verifying: Verifying, damage: Damage) -> None:
    restore = damaged_and_mended(verifying, damage)
    assert verifying.verify("plain", "orders").is_equal
    restore()
    assert len(verifying.findings("plain", "orders")) == 1


@DAMAGES
def test_also_where_the_log_grows_past_what_is_remembered_while_it_is_read(
    verifying: Verifying, damage: Damage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twinhive.verify.rounds._TABLES_AT_ONCE", 1)
    restore = damaged_and_mended(verifying, damage)
    assert verifying.verify().is_equal
    restore()
    read_by_name = verifying.world.replica.tables

    def busy(*args: object) -> object:
        other_events(verifying, 5)
        return read_by_name(*args)

    monkeypatch.setattr(verifying.world.replica, "tables", busy)
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
