"""Say in the words of statements what steps say: most are those of policies' tasks, and speak of tasks and files."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from twinhive.domain.errors import TwinhiveError
from twinhive.steps.base import Detail, Report

_AGAIN = "run the statement again"
_ANEW = "drop the replica, then dump and load the whole database"
_WHOLE = "leave the table out of the next dump (REPLACE), and take it in again by the one after that"

_WORDS = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"twinhive resync \S+ \S+; then clear the task window with all tasks after it", _WHOLE),
        (r"(?<=bring it back with: )\S+ resync \S+ \S+", "statements; " + _WHOLE),
        (r"(?<=to give the replica up: ).*skip-event.*", "drop it, and load nothing of this database any more"),
        (r"if the replica can do without it: \S+ skip-event .*?; if it cannot: ", ""),
        (r"start the (?:policy's bootstrap DAG|DAG \S+\.bootstrap)(?: with again=true| again)?", _ANEW),
        (
            r"clear (?:the|this|its)(?: (?!task)\w+)* tasks?(?: (?!with\b|of\b)\w+)?(?: of \S+(?: \w+)?)?"
            r"(?: with all tasks after (?:it|them))?",
            _AGAIN,
        ),
        (r"the task retries by itself", _AGAIN),
        (r"exclude (.+?),? in the policy file", r"leave \1 out of the dump"),
        (r"staging_root of policy \S+", "the staging directory"),
        (r"\bstaging_root\b", "twinhive.staging.root"),
        (r"external_tables\.include: false", "'hive.repl.include.external.tables'='false'"),
        (r"external_tables\.base_directory", "hive.repl.replica.external.table.base.dir"),
        (r"in the policy file", "in WITH (or in the file of a policy that it is run under)"),
    )
)


@contextmanager
def in_words_of_statements() -> Iterator[None]:
    """Run a statement inside: what an error asks for is something that can be done with statements."""
    try:
        yield
    except TwinhiveError as error:
        error.what = of_statement(error.what)
        error.next_step = error.next_step and of_statement(error.next_step)
        raise


def telling(report: Report) -> Report:
    """Return who takes the lines of steps and tells them in the words of statements."""

    def tell(line: str) -> None:
        report(Detail(line.of, of_statement(line)) if isinstance(line, Detail) else of_statement(line))

    return tell


def of_statement(text: str) -> str:
    """Return what a step says of tasks, DAGs and policy files, said of statements."""
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    return text
