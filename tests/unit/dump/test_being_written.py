"""A dump that another run removes while it is being written is tried again; other trouble stays what it is."""

import pytest

from tests.builders import a_policy
from tests.fake_files import InMemoryFiles
from twinhive.domain.errors import Missing, TryAgain
from twinhive.dump.store import begin_attempt, being_written

POLICY = a_policy()


def test_what_fails_because_another_run_has_removed_the_dump_is_tried_again() -> None:
    files = InMemoryFiles("hdfs://east")
    attempt = begin_attempt(files, POLICY, "t0")
    with pytest.raises(TryAgain, match="another run has removed it") as raised, being_written(files, attempt):
        files.delete(attempt.directory)
        # A create of HDFS makes the directories anew, and fails when it is closed.
        files.write(attempt.events, b"half")
        raise Missing("no such path")
    assert raised.value.found == "no such path"
    assert files.status(attempt.directory) is None


def test_other_trouble_stays_what_it_is() -> None:
    files = InMemoryFiles("hdfs://east")
    attempt = begin_attempt(files, POLICY, "t0")
    with pytest.raises(Missing, match="the source has no such database"), being_written(files, attempt):
        raise Missing("the source has no such database")
    assert files.status(attempt.begun) is not None
