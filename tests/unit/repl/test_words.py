"""No error of a statement asks for what only a policy's DAGs have."""

import re

import pytest

from tests.unit.test_named_commands import MODULES, texts
from twinhive.repl.words import of_statement

# Whatever a statement runs; not what only DAGs, their triggers and the commands of policies run.
PARTS = ("steps", "dump", "copying", "applying", "events", "domain")
NOT_RUN = {
    *("alert_memory", "event_reached", "external_in_sync", "forget", "gate", "lag", "lag_alerts", "operation"),
    *("operations", "requests", "resync", "skip_event", "window", "external_passes", "list_objects", "folding"),
    *("distinct_places", "manifest", "store", "whole_tables", "external_locations", "external_pass", "scan"),
}
OF_DAGS = re.compile(
    r"clear (?:the|this|its)\b.*?\btasks?\b|\bDAG\b|twinhive (?:resync|skip-event)|(?<!WITH \()in the policy file"
)
SAID = [
    (path.stem, text)
    for path in MODULES
    if path.parent.name in PARTS and path.stem not in NOT_RUN
    for text in texts(path)
    if OF_DAGS.search(text)
]


@pytest.mark.parametrize(
    ("module", "text"), SAID, ids=[f"{module}-{number}" for number, (module, _) in enumerate(SAID)]
)
def test_what_a_step_says_of_dags_is_said_of_statements(module: str, text: str) -> None:
    assert not OF_DAGS.search(of_statement(text)), of_statement(text)


def test_there_are_errors_to_look_at() -> None:
    assert len(SAID) > 20


@pytest.mark.parametrize(
    ("said", "of_statements"),
    [
        ("move it away, then clear the task apply", "move it away, then run the statement again"),
        ("clear the copy tasks of this table with all tasks after them", "run the statement again"),
        ("clear the task list_files of this batch with all tasks after it", "run the statement again"),
        (
            "switch it on; then clear the task preflight of repl.sales",
            "switch it on; then run the statement again",
        ),
        ("the task retries by itself", "run the statement again"),
        (
            "start the policy's bootstrap DAG with again=true",
            "drop the replica, then dump and load the whole database",
        ),
        ("drop the table by hand", "drop the table by hand"),
    ],
)
def test_the_rest_of_a_text_stays(said: str, of_statements: str) -> None:
    assert of_statement(said) == of_statements
