"""Say what a REPL statement would do, without doing it."""

from twinhive.repl.clusters import StatementPlace
from twinhive.repl.dumping import Dumping, dumping_of
from twinhive.repl.loading import Loading, loading_of
from twinhive.repl.running import run_statement
from twinhive.statements import ReplDump, ReplLoad, ReplStatus, parse, to_text
from twinhive.steps.adopt import is_of_hive
from twinhive.steps.base import Work
from twinhive.steps.repl_dump import ReplDump as DumpStep
from twinhive.steps.repl_events import stretch_of
from twinhive.steps.repl_fit import refuse_unfit
from twinhive.steps.replica_state import read_state
from twinhive.steps.source_scope import read_scope


def plan_statement(text: str, place: StatementPlace) -> list[str]:
    """Return the lines of a plan; a REPL STATUS, which changes nothing, is run. Raises what running it would."""
    statement = parse(text)
    match statement:
        case ReplDump():
            lines = _dump(dumping_of(place, statement))
        case ReplLoad():
            lines = _load(loading_of(place, statement))
        case ReplStatus():
            rows = run_statement(text, place, {}, lambda line: None).rows
            lines = [f"replicated event id: {rows[0][0]}" if rows else "no replication knows this database"]
    return [to_text(statement), *lines]


def _dump(dumping: Dumping) -> list[str]:
    order, ports = dumping.order, dumping.ports
    DumpStep(Work(order.policy), order).check(ports)
    scope = read_scope(ports.source, order.policy)
    lines = [f"would dump {order.policy.source} to a new directory below {order.policy.dump_root}"]
    if order.from_event is None:
        lines.append(f"{len(scope.tables)} tables, {len(scope.views)} views")
    else:
        stretch = stretch_of(ports.source, order)
        lines.append(f"{len(stretch.rows)} events of this scope, up to event {stretch.end.event_id}")
    return [*lines, *(f"left out: {entry.name}: {entry.reason}" for entry in scope.left_out)]


def _load(loading: Loading) -> list[str]:
    policy, ports, manifest = loading.policy, loading.ports, loading.dump.manifest
    database = ports.replica.database(policy.replica.database)
    what = f"the dump of {policy.source} at event {manifest.end.event_id} into {policy.replica}"
    if is_of_hive(database):
        return [f"would take the replica over from Hive, then load {what}"]
    already = refuse_unfit(read_state(ports.replica, policy, manifest.log_id), manifest, loading.dump.key, policy)
    batches = len(manifest.batches)
    return [already or f"would load {what}: {manifest.events} events, {batches} batches of files"]
