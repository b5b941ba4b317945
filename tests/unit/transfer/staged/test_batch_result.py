"""Read what a copy leaves for the gate, for quarantine, for people and for the process that waits."""

import json
from dataclasses import replace

import pytest

from twinhive.transfer.engine.failure_kind import CopyFailure, FailureKind, exit_code
from twinhive.transfer.staged.batch_result import result_record, result_text
from twinhive.transfer.staged.copy_outcome import CopyOutcome

DONE = CopyOutcome(files=3, bytes=30, copied_files=2, copied_bytes=20, superseded_files=1)


def failed(*kinds: FailureKind, event_id: int = 0) -> tuple[CopyFailure, ...]:
    return tuple(CopyFailure(f"hdfs://east/{kind}", "why", kind, "sales.t", event_id) for kind in kinds)


@pytest.mark.parametrize(
    ("failures", "code"),
    [
        ((), 0),
        (failed(FailureKind.UNREACHABLE, FailureKind.DIFFERS), 3),
        (failed(FailureKind.UNREACHABLE, FailureKind.LOST), 4),
        (failed(FailureKind.CHANGED), 4),
    ],
)
def test_superseded_files_do_not_fail_a_job_and_a_lost_one_needs_a_person(
    failures: tuple[CopyFailure, ...], code: int
) -> None:
    assert exit_code(replace(DONE, failures=failures).kinds, lists_again=False) == code


def test_the_record_names_every_table_and_event_that_lost_a_file() -> None:
    lost = [failure for event in range(150) for failure in failed(FailureKind.LOST, FailureKind.LOST, event_id=event)]
    outcome = replace(DONE, failures=(*failed(FailureKind.CHANGED), *lost))
    record = json.loads(json.dumps(result_record(outcome, dump="d", batch="b", seconds=1.0)))
    assert (record["superseded_files"], record["failure_count"], len(record["failures"])) == (1, 301, 100)
    assert record["lost"] == [{"table": "sales.t", "event_id": event} for event in range(150)]
    assert record["failures"][1] == {
        "path": "hdfs://east/lost",
        "reason": "why",
        "kind": "lost",
        "table": "sales.t",
        "event_id": 0,
    }


@pytest.mark.parametrize("others", [0, 250])
def test_lost_files_are_counted_also_where_failures_are_dropped(others: int) -> None:
    """Of which 250 files one event has lost each time, in parts that are added up."""
    part = replace(DONE, failures=failed(*[FailureKind.LOST] * 250, *[FailureKind.REFUSED] * others)).thinned()
    outcome = CopyOutcome.merged([part, part.thinned(), part]).thinned()
    record = json.loads(json.dumps(result_record(outcome, dump="d", batch="b", seconds=1.0)))
    assert (record["lost_files"], record["failure_count"]) == (750, 750 + 3 * others)


def test_the_text_counts_superseded_files_where_there_are_any() -> None:
    assert "2 of 3 files copied" in result_text(DONE, 1) and "1 superseded" in result_text(DONE, 1)
    assert "superseded" not in result_text(replace(DONE, superseded_files=0), 1)
