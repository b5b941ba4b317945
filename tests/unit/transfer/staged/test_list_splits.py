"""A batch of any size is shared by all tasks of its job, and no process holds all of it."""

import tracemalloc
from collections.abc import Iterator

import pytest

from twinhive.core.model.exit_codes import ExitCode, Unusable
from twinhive.replication.dump.shards import pack_lines
from twinhive.transfer.engine.failure_kind import CopyFailure, FailureKind, exit_code
from twinhive.transfer.staged import list_splits as cutting
from twinhive.transfer.staged.batch_result import result_record, result_text
from twinhive.transfer.staged.copy_outcome import CopyOutcome
from twinhive.transfer.staged.list_splits import Hand, cut_listing
from twinhive.transfer.staged.staged_files import CopyItem

GIGABYTE = 2**30


def items(count: int, length: int = 1, partition: str = "p=1") -> Iterator[CopyItem]:
    for number in range(count):
        yield CopyItem(f"hdfs://east/w/t/{partition}/{number}\u2028 ü", length, 1, number + 1, partition=partition)


def packed(some: Iterator[CopyItem]) -> bytes:
    return pack_lines(item.to_line() for item in some)


def held(hands: list[Hand]) -> list[CopyItem]:
    return sorted((item for hand in hands for item in hand.items()), key=lambda item: (item.partition, item.file_id))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a list be long from 200 files on."""
    monkeypatch.setattr(cutting, "DEALT_AT_ONCE", 200)
    monkeypatch.setattr(cutting, "MOST_FILES", 50)


@pytest.mark.parametrize("count", [1, 7, 200, 201, 1001])
def test_every_file_is_in_one_hand(count: int) -> None:
    hands = cut_listing(packed(items(count)), "x", 0, tasks=4)
    assert held(hands) == list(items(count))
    assert sum(hand.files for hand in hands) == count


def test_a_short_list_is_dealt_evenly() -> None:
    hands = cut_listing(packed(items(100)), "x", 0, tasks=4)
    assert [hand.files for hand in hands] == [25] * 4


def test_a_partition_that_holds_nearly_all_is_many_hands_that_are_begun_first() -> None:
    def listing() -> Iterator[CopyItem]:
        yield from items(210)
        yield from items(400, length=GIGABYTE, partition="p=hot")

    hands = cut_listing(packed(listing()), "x", 0, tasks=2)
    hot = [hand for hand in hands if hand.weight > 8 * GIGABYTE]
    assert sum(item.length > 1 for item in held(hot)) == 400
    assert len(hot) > 20
    assert hands[: len(hot)] == hot
    assert max(hand.weight for hand in hands) <= cutting.MOST_WEIGHT


def test_a_long_list_is_held_packed() -> None:
    listing = packed(items(1500))
    tracemalloc.start()
    try:
        hands = cut_listing(listing, "x", 0, tasks=2)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sum(hand.files for hand in hands) == 1500
    assert kept < 1500 * 60
    # As objects all of them would take 740 bytes each.
    assert peak < 1500 * 60 + (200 + 50) * 2000


def test_files_that_the_replica_has_are_in_no_hand() -> None:
    events = [CopyItem("hdfs://east/f", 1, 0, 0, checksum="aa", event_id=number) for number in (3, 4, 5)]
    hands = cut_listing(packed(iter(events)), "x", 4, tasks=4)
    assert [item.event_id for item in held(hands)] == [5]
    assert cut_listing(packed(iter(events)), "x", 5, tasks=4) == []


@pytest.mark.parametrize("content", [b"", b"none", packed(items(10))[:-20], pack_lines(["{}"]), pack_lines(["[1]"])])
def test_what_is_no_list_is_said(content: bytes) -> None:
    if content == b"":
        assert cut_listing(content, "hdfs://east/x", 0, tasks=2) == []
        return
    with pytest.raises(Unusable, match="hdfs://east/x is not a listing"):
        cut_listing(content, "hdfs://east/x", 0, tasks=2)


class TestThinned:
    def failed(self, kind: FailureKind, count: int, event_id: int = 0) -> CopyOutcome:
        failures = tuple(CopyFailure(f"f{number}", "why", kind, "sales.t", event_id) for number in range(count))
        return CopyOutcome(files=count, failures=failures)

    def test_all_failures_are_counted_and_some_are_kept(self) -> None:
        total = CopyOutcome()
        for _ in range(50):
            total = CopyOutcome.merged([total, self.failed(FailureKind.REFUSED, 1000).thinned()]).thinned()
        assert (total.failure_count, len(total.failures)) == (50_000, 100)
        assert result_record(total, dump="d", batch="b", seconds=1)["failure_count"] == 50_000
        assert "50,000 failed" in result_text(total, 1)

    def test_no_kind_is_dropped_and_no_lost_event(self) -> None:
        parts = [self.failed(FailureKind.UNREACHABLE, 1000), self.failed(FailureKind.REFUSED, 1)]
        parts += [self.failed(FailureKind.LOST, 3, event_id) for event_id in range(200)]
        total = CopyOutcome.merged(parts).thinned()
        assert exit_code(total.kinds, lists_again=False) is ExitCode.ACT_NOW
        assert {failure.kind for failure in total.failures} == {*(part.failures[0].kind for part in parts)}
        assert len(result_record(total, dump="d", batch="b", seconds=1)["lost"]) == 200
