"""Others change a partition between any two changes of a job: the log tells of no file that is not the partition's."""

import itertools
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from tests.support.worlds.copies import copies_of
from tests.unit.publishing.partition_writes.test_partition_writer import NAME, Written
from twinhive.core.model.errors import ActNow, TryAgain, TwinhiveError
from twinhive.publishing.partition_writes.job_directory import JobDirectory


class Beside:
    """Let somebody else act right before the n-th change of a job."""

    def __init__(self, at: int, act: Callable[[], None] = lambda: None) -> None:
        self.at, self.act, self.changes = at, act, 0

    def change(self, effect: Callable[[], Any]) -> Any:
        self.changes += 1
        if self.changes == self.at:
            self.act()
        return effect()


OTHERS: dict[str, Callable[[Written], None]] = {
    "a job overwrites": lambda one: one.write({"p1": ["B"]}, "overwrite", "B") and None,
    "a job appends": lambda one: one.write({"p1": ["B"]}, "append", "B") and None,
    "a job appends, and the replica has it": lambda one: one.write({"p1": ["B"]}, "append", "B") and one.follow(),
    "Hive overwrites": lambda one: one.users.overwrite("days", ("p1",), [b"B\n"]),
    "the partition is dropped": lambda one: one.users.drop_partitions("days", [("p1",)]),
    "the partition is truncated": lambda one: one.users.truncate("days", [("p1",)]),
    "the partition gets another place": lambda one: one.users.set_partition_location(
        "days", ("p1",), "hdfs://east/elsewhere"
    ),
}


def begun() -> Written:
    found = Written()
    found.write({"p1": ["old"]}, job="before")
    found.follow()
    return found


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_the_replica_has_the_rows_of_the_source_whoever_writes_beside(mode: str, other: str) -> None:
    counted, again, ended = Beside(0), copies_of(begun()), 0
    again().write({"p1": ["A"]}, mode, "A", switch=counted)
    for at in range(counted.changes - 7, counted.changes + 1):
        found = again()
        with suppress(TwinhiveError):
            found.write({"p1": ["A"]}, mode, "A", switch=Beside(at, lambda found=found: OTHERS[other](found)))
            ended += 1
        found.follow()
        found.follow()
        found.assert_twin()
    assert ended


def test_what_is_overwritten_before_it_is_told_is_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    found, once = begun(), iter([True])
    real = found.world.source_files.checksum

    def checksum(*given: Any) -> Any:
        if next(once, False):
            found.write({"p1": ["B"]}, "overwrite", "B")
        return real(*given)

    before = found.events()
    monkeypatch.setattr(found.world.source_files, "checksum", checksum)
    found.write({"p1": ["A"]}, "append", "A")
    assert (found.rows(), found.events()[len(before) :]) == ({"p1": ["B"]}, ["ALTER_PARTITIONS", "INSERT"])


def test_who_meets_others_all_the_time_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    found, number = begun(), itertools.count()
    real = found.world.source.fire_inserts

    def fire(*given: Any) -> None:
        real(*given)
        found.users.files.write(f"{found.users.location('days', ('p1',))}/{next(number)}", b"more")

    monkeypatch.setattr(found.world.source, "fire_inserts", fire)
    with pytest.raises(TryAgain, match=r"p=p1 of sales\.days is changed by others all the time"):
        found.write({"p1": ["A"]}, "overwrite", "A")


def test_a_refusal_amid_an_addition_says_that_some_partitions_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Written()
    rows = {f"{number:04d}": ["x"] for number in range(1_001)}
    real = JobDirectory.keep_shown

    def shown(job: JobDirectory, call: int) -> None:
        real(job, call)
        found.users.add_partitions("days", {("1000",): []})

    monkeypatch.setattr(JobDirectory, "keep_shown", shown)
    for job, says in (("one", "what this job has shown before stays"),) * 2 + (("two", "nothing was shown"),):
        with pytest.raises(ActNow, match="are there already") as refused:
            found.write(rows, job=job)
        assert says in str(refused.value.words.next_step)
    assert len(found.world.source.partition_names(NAME)) == 1_001
