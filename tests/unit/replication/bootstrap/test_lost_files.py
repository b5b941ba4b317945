"""What people are told of a file that is lost leads somewhere: a table comes back only where events are applied."""

import pytest

from tests.support.builders import a_policy
from twinhive.core.model.text import render
from twinhive.core.step.step_base import Work
from twinhive.federation.placement.copy_objects import CopyObjects
from twinhive.replication.bootstrap.copy_batch import CopyBatch


@pytest.mark.parametrize(
    ("dump", "said", "not_said"),
    [
        ("bootstrap-7-7-1234", "only with a new dump: start the DAG sales.bootstrap", "resync"),
        ("consolidate-7-9-1234", "only with a new dump: start the DAG sales.bootstrap", "resync"),
        (
            "incremental-7-9-1234",
            "only with its whole table: twinhive resync sales <table>; then clear the task window",
            "bootstrap",
        ),
    ],
    ids=["bootstrap", "consolidate", "incremental"],
)
def test_a_lost_file_comes_back_with_a_new_dump_before_the_replica_is_published(
    dump: str, said: str, not_said: str
) -> None:
    mend = render(CopyBatch(Work(a_policy(), "b1", dump)).mend)
    assert said in mend
    assert not_said not in mend


def test_a_placement_has_no_window_to_clear() -> None:
    assert render(CopyObjects(Work(a_policy(), "b1", "d")).mend).endswith("clear this task with all tasks after it")
