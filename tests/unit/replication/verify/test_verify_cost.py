"""A night costs what has changed, and memory does not grow with what there is."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.worlds.fake_world import Killed, KillSwitch, killable
from tests.unit.replication.verify.verifying import Verifying
from twinhive.replication.verify.verification_outcome import Verified

MANY = 1_000


class Counting:
    """Pass calls on, and count those that read leaves, by what they are asked for."""

    def __init__(self, port: Any, counts: Counter[str]) -> None:
        self._port, self._counts = port, counts

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._port, name)
        if not callable(value):
            return value

        def call(*args: Any, **kwargs: Any) -> Any:
            some = args[-1] if args else 1
            given = list(some) if name in _OF_MANY and isinstance(some, Iterable) else [some]
            self._counts[name] += len(given)
            return value(*args[:-1], given, **kwargs) if name in _OF_MANY else value(*args, **kwargs)

        return call


_OF_MANY = ("partitions", "list_pages", "list_directories")


def counted(verifying: Verifying, **options: Any) -> tuple[Verified, Counter[str]]:
    counts: Counter[str] = Counter()
    ports = verifying.world.ports()
    ports = replace(
        ports,
        source=Counting(ports.source, counts),
        source_files=Counting(ports.source_files, counts),
        replica=Counting(ports.replica, counts),
        replica_files=Counting(ports.replica_files, counts),
    )
    return verifying.verify(ports=ports, **options), counts


def large(*, replica_keeps_log: bool = True) -> Verifying:
    verifying = Verifying(replica_keeps_log=replica_keeps_log)
    verifying.users.create_table("large", keys=("p",))
    verifying.users.add_partitions("large", {(str(number),): [b"rows"] for number in range(MANY)})
    verifying.followed.follow()
    return verifying


@pytest.mark.thorough
def test_a_second_night_reads_no_partition_and_lists_no_directory_of_one() -> None:
    verifying = large()
    found, first = counted(verifying)
    assert found.is_equal
    assert first["partitions"] >= 2 * MANY
    assert first["list_pages"] >= 2 * MANY
    found, second = counted(verifying)
    assert found.is_equal
    assert found.leaves > MANY
    assert (second["partitions"], found.read) == (0, 2)
    assert second["list_pages"] < 10, "the directories around those of partitions and tables, and no other"
    assert sum(second.values()) < 0.05 * sum(first.values())


@pytest.mark.thorough
def test_what_one_night_has_changed_is_all_that_the_next_one_reads() -> None:
    verifying = large()
    counted(verifying)
    verifying.users.insert("large", ("7",), [b"more"])
    verifying.users.add_partitions("large", {("new",): [b"x"]})
    verifying.followed.follow()
    found, counts = counted(verifying)
    assert found.is_equal
    assert counts["partitions"] == 4
    assert counts["checksum"] == 4  # two files of the partition that was compared before, on each side


@pytest.mark.thorough
def test_a_replica_without_a_log_is_read_as_a_whole_and_the_source_is_not() -> None:
    verifying = large(replica_keeps_log=False)
    counted(verifying)
    found, counts = counted(verifying)
    assert found.is_equal
    assert MANY <= counts["partitions"] < 1.1 * MANY


@pytest.mark.thorough
def test_an_expired_log_is_made_up_for_by_reading_everything() -> None:
    verifying = large()
    counted(verifying)
    verifying.world.replica.expire_events(verifying.world.replica.current_event_id())
    verifying.users.insert("large", ("7",), [b"more"])
    verifying.followed.follow()
    verifying.world.replica.expire_events(verifying.world.replica.current_event_id())
    found, counts = counted(verifying)
    assert found.is_equal
    assert counts["partitions"] >= MANY


@pytest.mark.thorough
def test_killed_at_any_write_a_rerun_goes_on_and_ends_equal() -> None:
    reference = Verifying(replica_keeps_log=True)
    expected = reference.verify(deep=True)
    for after_effect in (False, True):
        for at in range(1, 40):
            verifying = Verifying(replica_keeps_log=True)
            switch = KillSwitch(at, after_effect=after_effect)
            try:
                verifying.verify(deep=True, ports=killable(verifying.world.ports(), switch))
            except Killed:
                found = verifying.verify(deep=True)
                assert found.is_equal
                assert (found.digest, found.leaves) == (expected.digest, expected.leaves)
            else:
                break
        else:
            raise AssertionError("it never ends")


@pytest.mark.thorough
def test_two_at_once_end_equal_and_leave_ledgers_that_can_be_used() -> None:
    verifying = large()
    met: list[Verified] = []
    verifying.users.insert("large", ("7",), [b"more"])

    def another() -> None:
        verifying.followed.follow()
        met.append(verifying.verify())

    assert verifying.verify(during=another).is_equal
    assert met[0].is_equal
    found, counts = counted(verifying)
    assert found.is_equal
    assert counts["partitions"] == 0


@pytest.mark.thorough
def test_a_ledger_that_was_cut_off_counts_as_none() -> None:
    verifying = large()
    counted(verifying)
    files = verifying.world.replica_files
    for path in files.paths():
        if path.endswith(".ledger"):
            files.write(path, files.read(path)[:-3])
    found, counts = counted(verifying)
    assert found.is_equal
    assert counts["partitions"] >= 2 * MANY
