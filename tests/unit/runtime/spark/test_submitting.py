"""Plans are handed to spark-submit, and what its job says comes back; a small program stands for spark-submit here."""

import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.fake_spark_submit import Submit
from tests.support.hdfs.fake_files import InMemoryFiles
from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.errors import ActNow, LeaseLost, TryAgain, TwinhiveError
from twinhive.core.model.files import FileStatus
from twinhive.runtime.spark import spark_submit
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.runtime.spark.submitting import SparkCopy, by_spark, deal
from twinhive.transfer.tree.executing import TreeCopyJob
from twinhive.transfer.tree.file_actions import Compared, Done, Result
from twinhive.transfer.tree.outcome_document import to_document
from twinhive.transfer.tree.planning.plan import Plan
from twinhive.transfer.tree.request import SyncOptions
from twinhive.transfer.tree.tree_actions import ActionKind, FileAction
from twinhive.transfer.tree.tree_batches import read_batch
from twinhive.transfer.tree.tree_outcome import ExecOutcome
from twinhive.transfer.tree.work_directories import Places

SECRET = "not-for-others"
CONF = {"spark.executor.memory": "2g", "spark.cores.max": "9"}
JOB = TreeCopyJob(Places("hdfs://west/b", False), SyncOptions())
COPY = SparkCopy(
    SparkCluster("yarn", 3, CONF),
    FileSystemEndpoint("hdfs://east", {"fs.secret": SECRET}, None),
    FileSystemEndpoint("hdfs://west", {}, None),
    "copy hdfs://east/a to hdfs://west/b",
)


@pytest.fixture
def submit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Submit:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    return Submit(tmp_path)


@pytest.fixture
def plan() -> Iterator[Plan]:
    with Plan() as made:
        yield made


def put(plan: Plan, files: int, length: int) -> None:
    for number in range(files):
        plan.add_file(FileAction(ActionKind.COPY, f"f{number}", FileStatus(f"hdfs://east/a/f{number}", length, 1)))


def execute(plan: Plan, say: Callable[[str], None] = print, confirm: Callable[[], None] = lambda: None) -> ExecOutcome:
    return by_spark(COPY, InMemoryFiles("hdfs://west"), say)(JOB, plan, confirm)


def test_the_outcome_is_that_of_the_job_and_its_progress_is_passed_on(submit: Submit, plan: Plan) -> None:
    outcome = ExecOutcome()
    outcome.count(Done(Result.COPIED, 10, Compared.CHECKSUM, 77))
    submit.tell(result=to_document(outcome), says="WARN noise\ncopy_files: 1 of 2 files\nothers: not ours")
    put(plan, 2, 5)
    said: list[str] = []
    assert execute(plan, said.append) == outcome
    assert said == ["1 of 2 files"]


def test_what_is_secret_is_in_a_file_that_only_we_can_read(submit: Submit, plan: Plan) -> None:
    submit.tell(result=to_document(ExecOutcome()))
    put(plan, 1, 5)
    execute(plan)
    given = submit.given()
    assert stat.S_IMODE(given["mode"]) == 0o600
    assert submit.settings()["source"]["properties"] == {"fs.secret": SECRET}
    assert SECRET not in " ".join(given["words"])
    assert not Path(given["words"][-1]).exists()


def test_what_a_person_has_set_wins_over_what_the_number_of_tasks_means(submit: Submit, plan: Plan) -> None:
    submit.tell(result=to_document(ExecOutcome()))
    put(plan, 1, 5)
    execute(plan)
    words = submit.given()["words"]
    conf = dict(words[at + 1].split("=", 1) for at, word in enumerate(words) if word == "--conf")
    assert {"spark.executor.instances": "3", **CONF}.items() <= conf.items()
    assert words[1:5] == ["--master", "yarn", "--name", "copy hdfs://east/a to hdfs://west/b: 1 files, 5 B"]


def test_without_anything_to_do_no_job_is_submitted(submit: Submit, plan: Plan) -> None:
    plan.totals.files[ActionKind.SKIP].add(7)
    assert execute(plan) == ExecOutcome()
    assert not submit.was_called()


@pytest.mark.parametrize(
    ("code", "says", "family", "said"),
    [
        (3, "copy_files failed: batch 1\n  found: it\nmore", TryAgain, "copy_files failed: batch 1; found: it"),
        (4, "copy_files failed: refused", ActNow, "copy_files failed: refused"),
        (5, "copy_files cannot run: no Python", ActNow, "mend --spark, --spark-conf"),
        (1, "Caused by: java.net.ConnectException: refused", TryAgain, "exit code 1: java.net.ConnectException"),
        (0, "", TryAgain, "has not said what came of it"),
    ],
)
def test_a_job_that_failed(
    submit: Submit, plan: Plan, code: int, says: str, family: type[TwinhiveError], said: str
) -> None:
    submit.tell(code=code, says=says)
    put(plan, 1, 5)
    with pytest.raises(family) as caught:
        execute(plan)
    assert said in str(caught.value)
    assert caught.value.what.startswith("copy hdfs://east/a to hdfs://west/b: 1 files, 5 B: ")
    assert "run again" in str(caught.value)


def test_a_job_ends_when_the_lease_is_lost(submit: Submit, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_submit, "CONFIRM_SECONDS", 0.05)
    submit.tell(seconds=60.0)
    put(plan, 1, 5)

    def confirm() -> None:
        if submit.was_called():
            raise LeaseLost("another run has taken over")

    began = time.monotonic()
    with pytest.raises(LeaseLost):
        execute(plan, confirm=confirm)
    assert time.monotonic() - began < 30


def test_batches_are_about_three_a_task_and_hold_all_lines(plan: Plan) -> None:
    put(plan, 90, 100_000_000)
    files = InMemoryFiles("hdfs://west")
    batches = deal(JOB, plan, 3, files)
    assert len(batches) == 9
    assert [line for batch in batches for line in read_batch(files, batch.path)] == list(plan.copies())


def test_a_small_plan_is_one_batch_and_a_large_one_many(plan: Plan) -> None:
    put(plan, 20, 1_000)
    assert len(deal(JOB, plan, 4, InMemoryFiles("hdfs://west"))) == 1
    with Plan() as large:
        put(large, 20, 4_000_000_000)
        assert len(deal(JOB, large, 1, InMemoryFiles("hdfs://west"))) == 10


def test_two_runs_never_give_their_batches_the_same_names(plan: Plan) -> None:
    files = InMemoryFiles("hdfs://west")
    put(plan, 1, 1)
    assert deal(JOB, plan, 1, files) != deal(JOB, plan, 1, files)
