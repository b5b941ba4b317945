"""What a REPL statement would do, without doing it."""

from collections.abc import Sequence
from typing import cast

from twinhive.core.model.text import Text
from twinhive.core.ports import FileWriter
from twinhive.core.step.step_base import Work
from twinhive.replication.replica.source_scope import read_scope
from twinhive.runtime.dry_run.pretended_files import PretendedFiles
from twinhive.runtime.dry_run.pretended_ports import pretended
from twinhive.statements.execution.dumping import Dumping, dumping_of
from twinhive.statements.execution.remote_statements import plan_remotes
from twinhive.statements.execution.repl_loading import Loading, loading_of
from twinhive.statements.execution.statement_cleaning import clean_dumps, clean_given_up
from twinhive.statements.execution.statement_cluster import StatementPlace
from twinhive.statements.execution.statement_runner import for_statements, run_statement
from twinhive.statements.execution.statement_script import said_in
from twinhive.statements.execution.table_files import plan_table_files
from twinhive.statements.language import DumpStatement, LoadStatement, StatusStatement, parse, to_text
from twinhive.statements.remote_language.remote_parsing import is_about_remotes
from twinhive.statements.steps.dump_compatibility import refuse_unfit, state_before
from twinhive.statements.steps.repl_dump import ReplDump
from twinhive.statements.steps.repl_events import events_asked
from twinhive.statements.steps.repl_load import ReplLoad
from twinhive.statements.steps.take_over import is_of_hive
from twinhive.statements.table_language.table_parsing import is_about_table_files


@for_statements()
def plan_statement(text: str, place: StatementPlace) -> list[str]:
    """Return the lines of a plan; a REPL STATUS, which changes nothing, is run. Raises what running it would.

    Each statement of a script is planned on what is there now.
    """
    return [line for one in said_in(text, place) for line in _plan(one.text, one.place)]


def _plan(text: str, place: StatementPlace) -> list[str]:
    if is_about_remotes(text):
        return plan_remotes(text, place)
    if is_about_table_files(text):
        return plan_table_files(text, place)
    statement = parse(text)
    match statement:
        case DumpStatement():
            lines = _dump(dumping_of(place, statement), place)
        case LoadStatement():
            lines = _load(loading_of(place, statement))
        case StatusStatement():
            rows = run_statement(text, place, {}, lambda line: None).rows
            lines = [f"replicated event id: {rows[0][0]}" if rows else "no replication knows this database"]
    return [to_text(statement), *lines]


def _dump(dumping: Dumping, place: StatementPlace) -> list[str]:
    order, ports = dumping.order, dumping.ports
    ReplDump(Work(order.policy), order).check(ports)
    scope = read_scope(ports.source, order.policy)
    lines = [f"would dump {order.policy.source} to a new directory below {order.policy.dump_root}"]
    if order.from_event is None:
        lines.append(f"{len(scope.tables)} tables, {len(scope.views)} views")
    else:
        asked = events_asked(ports.source, order)
        rows, end = asked.event_range.rows, asked.event_range.end
        lines.append(f"{len(rows)} events of this scope, up to event {end.event_id}")
        lines += [f"dumped whole: {table}" for table in asked.whole]
    lines += [f"left out: {entry.name}: {entry.reason}" for entry in scope.left_out]
    pretended_files = cast(FileWriter, PretendedFiles(ports.dump_files))
    return lines + _removed(clean_dumps(dumping, place, pretended_files, _say_nothing, ""))


def _removed(directories: Sequence[str]) -> list[str]:
    return [f"would be removed, to the trash where one is kept: {directory}" for directory in directories]


def _say_nothing(line: Text) -> None:
    """Leave to the plan what is said."""


def _load(loading: Loading) -> list[str]:
    policy, ports, dump = loading.policy, loading.ports, loading.dump
    if dump is None:
        return [f"would take a dump of Hive's over, and load it into {policy.replica}"]
    manifest = dump.manifest
    state = state_before(ports.replica, policy, manifest)
    if already := refuse_unfit(state, manifest, dump.key, policy, loading.file_scope):
        return [already]
    ReplLoad(Work(policy), dump).check(ports)
    what = f"the dump of {policy.source} at event {manifest.end.event_id} into {policy.replica}"
    if is_of_hive(ports.replica.database(policy.replica.database)):
        return [f"would take the replica over from Hive, then load {what}"]
    lines = [f"would load {what}: {manifest.events} events, {len(manifest.batches)} batches of files"]
    return lines + _cleaned_after(loading, ReplLoad(Work(policy), dump))


def _cleaned_after(loading: Loading, step: ReplLoad) -> list[str]:
    """Say what the load would clean up at its end, as far as it is there by now."""
    pretending = pretended(loading.ports)
    clean_given_up(loading, step.work, pretending)
    step.sweep_unused(pretending)
    return _removed(cast(PretendedFiles, pretending.replica_files).deleted)
