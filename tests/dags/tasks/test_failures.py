"""How tasks end: tried again, handed to a person, or tried once more; and what the last lines of their logs are."""

import json
import logging
import re

import pytest
from airflow.sdk.definitions.retry_policy import RetryAction
from airflow.sdk.exceptions import AirflowException, AirflowSkipException
from airflow.serialization.serialized_objects import DagSerialization

from tests.dags.airflow_home import CHECKOUT, create_database, parse_dags
from tests.support.policies import PolicyFiles
from twinhive.core.model.errors import ActNow, Missing, Unexplained, Unreachable
from twinhive.core.step.step_base import Detail
from twinhive.surfaces.airflow.monitor.task_failures import (
    RETRIES,
    RETRY_RULES,
    MayPass,
    PersonMustAct,
    TaskStopped,
    Unforeseen,
    as_airflow_failures,
)
from twinhive.surfaces.airflow.tasks.log_groups import FoldedLog

DEFAULT, FAIL = RetryAction.DEFAULT, RetryAction.FAIL


def stopped_by(error: Exception) -> TaskStopped:
    with pytest.raises(TaskStopped) as stopped, as_airflow_failures():
        raise error
    return stopped.value


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (Unreachable("away"), [DEFAULT, DEFAULT, DEFAULT, DEFAULT]),
        (Missing("gone"), [FAIL, FAIL, FAIL, FAIL]),
        (Unexplained("what is that"), [DEFAULT, DEFAULT, DEFAULT, DEFAULT]),
        (ZeroDivisionError("a mistake"), [DEFAULT, FAIL, FAIL, FAIL]),
    ],
)
@pytest.mark.parametrize("tries_before_a_clear", [0, 1, 7])
def test_each_ending_has_its_number_of_tries_also_after_a_clear(
    error: Exception, tries: list[RetryAction], tries_before_a_clear: int
) -> None:
    stopped, most = stopped_by(error), tries_before_a_clear + RETRIES["retries"]
    numbers = range(tries_before_a_clear + 1, tries_before_a_clear + 1 + len(tries))
    assert [RETRY_RULES.evaluate(stopped, number, most).action for number in numbers] == tries


def test_the_last_line_says_that_a_person_is_asked_about_an_answer_that_nobody_knows_when_tries_are_over() -> None:
    assert "then a person must act" in str(stopped_by(Unexplained("what is that")).code)


def test_what_airflow_itself_raises_is_left_to_its_own_rules() -> None:
    with pytest.raises(AirflowSkipException), as_airflow_failures():
        raise AirflowSkipException("nothing to do")
    assert RETRY_RULES.evaluate(AirflowException("its API is away"), 2, 3).action is DEFAULT
    assert RETRY_RULES.evaluate(TimeoutError("too slow"), 2, 3).action is DEFAULT


def test_the_block_of_the_error_is_the_last_thing_that_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    stopped_by(ActNow("sales is not ours", found="no mark", expected="our mark", next_step="drop it"))
    assert caplog.records[-1].getMessage().splitlines() == [
        "ActNow: sales is not ours",
        "  found:    no mark",
        "  expected: our mark",
        "  next:     drop it",
    ]
    assert caplog.records[-1].exc_info is None


def test_an_error_that_nobody_foresaw_has_its_traceback_folded_away(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        stopped = stopped_by(KeyError("partition"))
    said = [record.getMessage() for record in caplog.records]
    assert said[0] == "::group::Traceback"
    assert caplog.records[1].exc_info is not None
    assert said[2] == "::endgroup::"
    assert said[3].startswith("KeyError: 'partition'")
    assert "next:" in said[3]
    assert isinstance(stopped, Unforeseen)


def test_an_act_now_error_fails_in_its_first_try_and_airflow_logs_no_traceback(
    policies: PolicyFiles, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    create_database()
    policies.write("policies/sales.yaml", {"policy": "sales", "colour": 1})
    monkeypatch.setenv("TWINHIVE_CONFIG", str(policies.directory))
    result = parse_dags(policies.directory)["sales.scan"].test()
    [instance] = result.get_task_instances()
    assert (str(instance.state), instance.try_number) == ("failed", 1)
    said = capfd.readouterr().out
    assert PersonMustAct.ending in said
    assert "Traceback" not in said


def test_every_task_of_every_dag_has_the_rules_and_growing_waits(policies: PolicyFiles) -> None:
    policies.add("sales", external_tables={"base_directory": "hdfs://west/external"})
    for dag_id, dag in parse_dags(policies.directory).items():
        stored = DagSerialization.from_dict(json.loads(json.dumps(DagSerialization.to_dict(dag))))
        for task in dag.tasks if dag_id.startswith("sales.") else ():
            assert task.retry_policy is RETRY_RULES, (dag_id, task.task_id)
            kept = stored.get_task(task.task_id)
            assert kept.retries == RETRIES["retries"]
            assert kept.retry_exponential_backoff == 2.0
            assert kept.max_retry_delay == RETRIES["max_retry_delay"]
            assert kept.has_retry_policy


def test_details_are_folded_under_what_they_are_details_of_and_key_lines_are_not() -> None:
    said: list[str] = []
    with FoldedLog(said.append) as log:
        log("begin")
        log(Detail("Tables", "a"))
        log(Detail("Tables", "b"))
        log("in between")
        log(Detail("Files", "f"))
        log(Detail("Tables", "c"))
    assert said == [
        *("begin", "::group::Tables", "a", "b", "::endgroup::", "in between"),
        *("::group::Files", "f", "::endgroup::", "::group::Tables", "c", "::endgroup::"),
    ]


def test_a_group_is_closed_before_the_lines_of_an_error() -> None:
    said: list[str] = []
    with pytest.raises(Missing), FoldedLog(said.append) as log:
        log(Detail("Tables", "a"))
        raise Missing("gone")
    assert said[-1] == "::endgroup::"


@pytest.mark.parametrize("kind", [MayPass, PersonMustAct, Unforeseen])
def test_the_code_of_an_ending_says_what_comes_next(kind: type[TaskStopped]) -> None:
    stopped = kind(Missing("gone"))
    assert stopped.code == kind.ending
    assert str(stopped) == "Missing: gone"


def test_the_documents_list_all_endings() -> None:
    text = (CHECKOUT / "docs" / "watching.md").read_text(encoding="utf-8").partition("## Endings of a task")[2]
    listed = re.findall(r"^\| `(\w+)`", text.partition("\n## ")[0], re.MULTILINE)
    assert set(listed) == {ending.__name__ for ending in TaskStopped.__subclasses__()}
