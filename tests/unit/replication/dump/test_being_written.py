"""A dump that another run removes while it is being written is tried again; other trouble stays what it is."""

import pytest

from tests.support.builders import a_policy
from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.errors import Missing, Refused, TryAgain
from twinhive.core.model.files import base_name
from twinhive.replication.dump.publishing import begin_attempt, being_written

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


def test_also_when_it_is_removed_before_it_has_begun() -> None:
    class Shared(InMemoryFiles):
        """Two windows were started at once: one removes what the other begins, before that is closed."""

        def write(self, path: str, content: bytes) -> None:
            if base_name(path) == "_begun":
                raise Missing(f"{path}: this path is not there", found="does not have any open files")
            super().write(path, content)

    with pytest.raises(TryAgain, match="another run has removed it") as raised:
        begin_attempt(Shared("hdfs://east"), POLICY, "t0")
    assert str(raised.value.next_step).startswith("nothing, when that run has gone on")


def test_what_keeps_a_dump_from_beginning_stays_what_it_is() -> None:
    files = InMemoryFiles("hdfs://east")
    begin_attempt(files, POLICY, "t0")
    files.forbidden.add(POLICY.dumps)
    with pytest.raises(Refused):
        begin_attempt(files, POLICY, "t1")


def test_other_trouble_stays_what_it_is() -> None:
    files = InMemoryFiles("hdfs://east")
    attempt = begin_attempt(files, POLICY, "t0")
    with pytest.raises(Missing, match="the source has no such database"), being_written(files, attempt):
        raise Missing("the source has no such database")
    assert files.status(attempt.begun) is not None
