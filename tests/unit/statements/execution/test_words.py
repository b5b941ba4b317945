"""No error of a statement asks for what only a policy's DAGs have, and no line of its report does."""

import ast
import re
from pathlib import Path

import pytest

from tests.support.package_texts import PLUGINS, texts_of
from twinhive.core.model.errors import ActNow, Missing, TryAgain, TwinhiveError, together
from twinhive.core.model.next_steps import IN_THE_POLICY_FILE, RETRIES, resync
from twinhive.core.model.text import Again, Clear
from twinhive.core.step.step_base import Detail
from twinhive.statements.execution.statement_runner import for_statements, lines_of_statements

# What no statement runs speaks to those who have DAGs: these packages and the commands, and some steps.
PACKAGES_NOT_RUN = ("surfaces/", "operations/journal/", "federation/routing/", "publishing/set_visibility/")
STEPS_NOT_RUN = {
    "core/model/text": "the words of each reader",
    "core/step/promotion_note": "the second witness of a policy's failover",
    "hive/adapters/hive/hive_source_marker": "two replicas that have taken over, by failovers of policies",
    "operations/failover/fence/fencing": "the fence of a policy's failover",
    "operations/failover/left_source": "a command of policies",
    "operations/monitoring/old_primaries": "the alarms of the monitor's DAG",
    "replication/operator_requests/request_files": "why a policy is paused: who forgets one has its commands",
    "replication/incremental/event_reached": "what a sensor in a DAG waits for",
    "operations/failover/adopt": "a command of policies",
    "operations/failover/failback": "a command of policies",
    "operations/failover/failover": "a command of policies",
    "operations/failover/unplanned_failover": "a command of policies",
    "operations/failover/fence/fenced_directories": "the fence of a policy's failover",
    "hive/adapters/hdfs/hadoop_quotas": "the fence of a policy's failover",
    "operations/failover/forget": "a command of policies",
    "operations/failover/promote": "a command of policies",
    "operations/failover/readiness": "a command of policies",
    "operations/monitoring/lag": "the lag of a policy's replica",
    "operations/monitoring/lag_alerts": "the alarms of the monitor's DAG",
    "operations/failover/forget_files": "a command of policies",
    "operations/actions/operation": "commands of policies",
    "operations/actions/pause": "a command of policies",
    "replication/incremental/window_requests": "why a window is planned again, the mark of a table to resync",
    "operations/actions/skip_event": "a command of policies",
    "replication/incremental/plan_window": "the DAG incremental; a statement names its own events",
    "replication/incremental/window": "the DAG incremental; a statement names its own events",
    "replication/verify/verification_outcome": "the DAG verify, and the command of a policy",
}
OF_DAGS = re.compile(
    r"\bclear (?:the|this|its|that)\b|\bretries by itself\b|\bDAGs?\b|\btwinhive (?:resync|skip-event|forget|pause)\b"
    r"|\bin the policy file\b|\bstaging_root \w|\bexternal_tables\.(?:include|base_directory)\b"
)
PACKAGE = PLUGINS / "twinhive"
LEFT_OUT = {PACKAGE / f"{step}.py" for step in STEPS_NOT_RUN}
RUN = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if not path.relative_to(PACKAGE).as_posix().startswith(PACKAGES_NOT_RUN) and path not in LEFT_OUT
]


def of_dags(tree: ast.Module) -> list[str]:
    return [text for text in texts_of(tree, for_statements=True) if OF_DAGS.search(text)]


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_what_statements_run_says_nothing_of_dags() -> None:
    assert {path.name: texts for path in RUN if (texts := of_dags(tree_of(path)))} == {}


@pytest.mark.parametrize("path", sorted(LEFT_OUT), ids=lambda path: path.stem)
def test_a_step_that_is_left_out_speaks_of_dags(path: Path) -> None:
    assert of_dags(tree_of(path))


def test_texts_are_put_together_in_both_wordings() -> None:
    code = "ActNow(BASE_DIRECTORY + f' of {policy}', next_step='move it away, then: ' + resync(name, 't'))"
    for_tasks, for_statements = ([*texts_of(ast.parse(code), for_statements=said)] for said in (False, True))
    assert for_tasks == [
        "external_tables.base_directory of 1",
        "move it away, then: twinhive resync 1 t; then clear the task window with all tasks after it",
    ]
    assert for_statements == [
        "hive.repl.replica.external.table.base.dir of 1",
        "move it away, then: two more dumps, one that leaves the table out (REPLACE) and one that takes it in again",
    ]


@pytest.mark.parametrize(
    "code",
    [
        "ActNow('a', next_step='then clear the task apply')",
        "ActNow('a', next_step=f'start the DAG {policy}.bootstrap')",
        "ActNow('a', next_step='name it in the policy file, then ' + Clear('the task'))",
        "Either('clear the task', 'clear the task')",
    ],
)
def test_a_text_for_dags_is_found(code: str) -> None:
    assert of_dags(ast.parse(code))


def said(error: TwinhiveError) -> TwinhiveError:
    with pytest.raises(TwinhiveError) as caught, for_statements():
        raise error
    assert caught.value is error
    return error


def test_an_error_is_said_in_the_words_of_statements() -> None:
    error = said(
        Missing(
            "nothing is " + IN_THE_POLICY_FILE,
            found="no base " + IN_THE_POLICY_FILE,
            expected=1,
            next_step="mend it, then " + Clear("the task apply"),
        )
    )
    with_key = "in WITH (or in the file of a policy that it is run under)"
    words = error.words
    assert (words.what, words.found, words.expected) == (f"nothing is {with_key}", f"no base {with_key}", "1")
    assert words.next_step == "mend it, then run the statement again"


def test_each_of_several_errors_is() -> None:
    first, second = TryAgain("a", next_step=RETRIES), ActNow("b", next_step="get it: " + resync("sales", "t"))
    text = str(said(together([first, together([second, first], "two more")], "three")))
    assert not OF_DAGS.search(text)
    assert text.count("run the statement again") == 2 and "get it: two more dumps" in text


def test_an_error_that_asks_for_nothing_stays_as_it_is() -> None:
    assert str(said(ActNow("a", found=2))) == "a\n  found:    2"


def test_a_statement_within_another_says_it_once() -> None:
    error = ActNow("a", next_step="wait, then " + Again())
    assert said(said(error)).words.next_step == "wait, then run the statement again"


def test_lines_are_told_in_the_words_of_statements() -> None:
    told: list[str] = []
    tell, detail = lines_of_statements(told.append), Detail("What is left out", "left out: t")
    for line in ("1 file", "bring it back with: " + Again(), detail):
        tell(line)
    assert told[:2] == ["1 file", "bring it back with: run the statement again"]
    assert told[2] is detail
