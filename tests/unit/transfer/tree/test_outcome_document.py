"""Nothing of an outcome is lost on its way from a job to whoever waits for it."""

import json
from array import array

import pytest

from twinhive.core.model.errors import CopyDiffers, Refused, SourceMoved
from twinhive.transfer.tree.file_actions import Compared, Done, Result
from twinhive.transfer.tree.outcome_document import from_document, to_document
from twinhive.transfer.tree.tree_outcome import ExecOutcome


def an_outcome() -> ExecOutcome:
    outcome = ExecOutcome()
    outcome.count(Done(Result.COPIED, 10, Compared.CHECKSUM, 2**64 - 1))
    outcome.count(Done(Result.COPIED, 5, Compared.LENGTH))
    outcome.count(Done(Result.SKIPPED, 7, Compared.TIME, 1))
    outcome.count(Done(Result.ATTRIBUTES, 3, Compared.BEFORE))
    outcome.copied.add(0, is_directory=True)
    for number in range(40):
        outcome.failures.add(
            f"hdfs://east/d/\u2028 ü {number}", CopyDiffers("differs", found=number), 11, new_root="n/ü"
        )
    outcome.failures.add("hdfs://east/d/moved", SourceMoved("moved"))
    outcome.failures.add_unreadable("hdfs://east/d/secret", Refused("no"), 12)
    outcome.failures.vanished.add(13)
    outcome.failures.differing.append("n/ü/f")
    return outcome


def test_an_outcome_is_the_same_after_it_was_written_and_read() -> None:
    outcome = an_outcome()
    read = from_document(json.loads(json.dumps(to_document(outcome))))
    assert read == outcome
    assert len(read.failures.examples) == 42
    assert read.failures.holds("n/ü") and not read.failures.holds("other")


def test_an_outcome_of_an_earlier_version_names_no_copies_that_differ() -> None:
    document = to_document(an_outcome())
    del document["failures"]["differing"]
    assert from_document(document).failures.differing == []


def test_digests_are_eight_bytes_each_the_lowest_first() -> None:
    document = to_document(ExecOutcome(verified=array("Q", [1, 2**56])))
    assert document["verified"] == "AQAAAAAAAAAAAAAAAAAAAQ=="


def test_held_directories_that_were_too_many_stay_so() -> None:
    outcome = ExecOutcome()
    outcome.failures.holds_all = True
    assert from_document(to_document(outcome)).failures.holds("any")


@pytest.mark.parametrize(
    "change", [{"verified": "AAA"}, {"verified": "AAAA"}, {"copied": {"other": 1}}, {"compared": {"?": 1}}]
)
def test_something_else_is_not_taken_for_an_outcome(change: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        from_document({**to_document(an_outcome()), **change})
