"""A job is stopped when its small files are merged, and repeated with another rule: no row is lost, none is twice."""

from typing import Any

import pytest

from tests.support.worlds.copies import left_by_kills
from tests.unit.publishing.partition_writes.test_partition_writer import Written
from twinhive.publishing.partition_writes.job_directory import JobDirectory
from twinhive.publishing.partition_writes.partition_writer import PartitionWriter
from twinhive.publishing.partition_writes.write_request import SmallFiles

LARGE = "a long row that makes a large file"
ROWS = {"a": ["1", "2", LARGE], "b": ["3"]}
ALL = {"a": sorted(ROWS["a"]), "b": ["3"]}
RULE = SmallFiles(at_least=2, below=10)
OTHERS = pytest.mark.parametrize(
    "rule",
    [None, SmallFiles(at_least=2, below=10_000), SmallFiles(at_least=99, below=10), SmallFiles(2, 1)],
    ids=["none", "larger files", "more files", "smaller files"],
)


class Killed(BaseException):
    """The process is no more."""


def stopped_at(patch: pytest.MonkeyPatch, kind: type, step: str) -> Written:
    """Return what is left when a write is killed at a step."""

    def killed(*_: object) -> None:
        raise Killed

    written = Written()
    with patch.context() as amid:
        amid.setattr(kind, step, killed)
        with pytest.raises(Killed):
            written.write(ROWS, tasks=3, small_files=RULE)
    return written


@OTHERS
@pytest.mark.parametrize(
    ("kind", "step"),
    [(PartitionWriter, "_keep_large"), (JobDirectory, "keep_plan")],
    ids=["before large files move", "after it"],
)
def test_what_was_merged_is_not_judged_again(
    monkeypatch: pytest.MonkeyPatch, kind: type, step: str, rule: SmallFiles | None
) -> None:
    written = stopped_at(monkeypatch, kind, step)
    assert written.write(ROWS, tasks=3, small_files=rule).merged == 2
    assert written.rows() == ALL


@OTHERS
def test_killed_at_any_change_and_repeated_by_another_rule_it_has_each_row_once(rule: SmallFiles | None) -> None:
    def write(begun: Written, switch: Any = None) -> None:
        begun.write(ROWS, switch=switch, tasks=3, small_files=RULE)

    for left in left_by_kills(Written, write, least=8):
        left.write(ROWS, tasks=3, small_files=rule)
        assert left.rows() == ALL


def test_of_a_job_of_an_earlier_version_the_rule_says_what_was_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(JobDirectory, "keep_merged_files", lambda *_: None)
        written = stopped_at(monkeypatch, PartitionWriter, "_keep_large")
    assert not [path for path in written.world.source_files.paths() if "_merged-files" in path]
    assert written.write(ROWS, tasks=3, small_files=RULE).merged == 2
    assert written.rows() == ALL
