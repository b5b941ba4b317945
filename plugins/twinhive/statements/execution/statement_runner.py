"""Run REPL statements, and what else is said like them, from their text (seed 002, 'New Commands')."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from twinhive.core.directory_marks.staging import own_staging
from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.text import Reader, render
from twinhive.core.step.step_base import Report, Work
from twinhive.runtime.wiring.policy_wiring import metastore
from twinhive.statements.execution.dumping import dumping_of
from twinhive.statements.execution.hive_dumps import taken_over_in, written_for_hive
from twinhive.statements.execution.remote_statements import run_remotes
from twinhive.statements.execution.repl_loading import loading_of
from twinhive.statements.execution.statement_cleaning import clean_dumps, clean_given_up
from twinhive.statements.execution.statement_cluster import StatementPlace
from twinhive.statements.execution.statement_results import Answer
from twinhive.statements.execution.statement_script import said_in
from twinhive.statements.execution.statement_settings import keys_of
from twinhive.statements.execution.table_files import run_table_files
from twinhive.statements.language import DumpStatement, LoadStatement, StatusStatement, parse
from twinhive.statements.remote_language.remote_parsing import is_about_remotes
from twinhive.statements.steps.repl_dump import ReplDump
from twinhive.statements.steps.repl_load import ReplLoad, replicated_event
from twinhive.statements.table_language.table_parsing import is_about_table_files


@contextmanager
def for_statements() -> Iterator[None]:
    """Run a statement inside: what an error asks for is something that can be done with statements."""
    try:
        yield
    except TwinhiveError as error:
        error.reader = Reader.STATEMENTS
        raise


def lines_of_statements(say: Callable[[str], None]) -> Report:
    """Return who takes the lines of steps and says them in the words of statements."""
    return lambda line: say(render(line, Reader.STATEMENTS))


@for_statements()
def run_statement(text: str, place: StatementPlace, holder: Mapping[str, str], say: Callable[[str], None]) -> Answer:
    """Run what a text says: REPL, EXPORT, IMPORT, statements about remotes, USE CLUSTER; return the last rows.

    Raises InvalidSettings for a text that says anything else, before any of it is run. `holder` says who does, for the
    lease. The columns have Hive's names: `dump_dir` and `last_repl_id` of a dump, `last_repl_id` of a status, which has
    no row for a database that no replication knows.
    """
    answer = Answer()
    for one in said_in(text, place):
        found = _run(one.text, one.place, holder, say)
        answer = found if found.columns else answer
    return answer


def _run(text: str, place: StatementPlace, holder: Mapping[str, str], say: Callable[[str], None]) -> Answer:
    if is_about_remotes(text):
        return run_remotes(text, place, say)
    if is_about_table_files(text):
        return run_table_files(text, place, holder, say)
    statement, report = parse(text), lines_of_statements(say)
    match statement:
        case DumpStatement():
            return _dump(statement, place, dict(holder), report)
        case LoadStatement():
            return _load(statement, place, dict(holder), report)
        case StatusStatement():
            return _status(statement, place)


def _dump(statement: DumpStatement, place: StatementPlace, holder: dict[str, str], report: Report) -> Answer:
    dumping = dumping_of(place, statement)
    policy, settings = dumping.order.policy, dumping.settings
    dumped = ReplDump(Work(policy, holder=holder, report=report), dumping.order).run(dumping.ports)
    if settings.layout == "hive":
        dumped = written_for_hive(dumping.ports, dumping.order, report)
    with _only_cleaning("old dumps", report):
        clean_dumps(dumping, place, dumping.ports.dump_files, report, dumped.directory)
    return Answer(("dump_dir", "last_repl_id"), ((dumped.directory, dumped.last_event),))


def _load(statement: LoadStatement, place: StatementPlace, holder: dict[str, str], report: Report) -> Answer:
    loading = loading_of(place, statement)
    policy, ports = loading.policy, loading.ports
    work = Work(policy, holder=holder, report=report)
    dump = loading.opened(work)
    ReplLoad(work, dump, loading.hive_places, loading.copying, loading.file_scope).run(ports)
    if loading.hive is not None:
        loading.hive.say_loaded()
    with _only_cleaning("old staging directories", report):
        # Neither what was taken over for this load, nor for one before that was cut off, is needed any more.
        if ours := own_staging(ports.replica_files, policy):
            ours.discard(taken_over_in(policy.staging))
        clean_given_up(loading, work, ports)
    return Answer()


@contextmanager
def _only_cleaning(what: str, report: Report) -> Iterator[None]:
    """Report what goes wrong: the statement itself is done, and whoever said it is told so."""
    try:
        yield
    except TwinhiveError as error:
        report(f"{what} were not cleaned: " + error.text)


def _status(statement: StatusStatement, place: StatementPlace) -> Answer:
    keys_of(place, statement.settings, "status")
    replica = metastore(place.servers(place.loading_cluster()).metastore)
    event_id = replicated_event(replica.database(statement.database))
    return Answer(("last_repl_id",), () if event_id is None else ((event_id,),))
