"""Run one REPL statement from its text (seed 002, 'New Commands')."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from twinhive.domain.files import parent
from twinhive.repl.clusters import StatementPlace
from twinhive.repl.dumping import dumping_of
from twinhive.repl.hive_dumps import written_for_hive
from twinhive.repl.keys import keys_of
from twinhive.repl.loading import loading_of
from twinhive.repl.words import in_words_of_statements, telling
from twinhive.statements import ReplDump as DumpStatement
from twinhive.statements import ReplLoad as LoadStatement
from twinhive.statements import ReplStatus as StatusStatement
from twinhive.statements import parse
from twinhive.steps.base import Report, Work
from twinhive.steps.repl_clean import clean_dumps
from twinhive.steps.repl_dump import ReplDump
from twinhive.steps.repl_load import ReplLoad, replicated_event
from twinhive.wiring import metastore


@dataclass(frozen=True)
class Answer:
    """What a statement returns: names of columns, and rows of values; LOAD returns neither."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str | int, ...], ...] = ()


@in_words_of_statements()
def run_statement(text: str, place: StatementPlace, holder: Mapping[str, str], report: Report) -> Answer:
    """Run a statement; `holder` says who does, for the lease. Raises InvalidSettings for a text that is none.

    The columns have Hive's names: `dump_dir` and `last_repl_id` of a dump, `last_repl_id` of a status, which has no row
    for a database that no replication knows.
    """
    statement, report = parse(text), telling(report)
    match statement:
        case DumpStatement():
            return _dump(statement, place, dict(holder), report)
        case LoadStatement():
            loading = loading_of(place, statement)
            work = Work(loading.policy, holder=dict(holder), report=report)
            ReplLoad(work, loading.opened(report), loading.hive_places).run(loading.ports)
            if loading.hive is not None:
                loading.hive.say_loaded()
                loading.ports.dump_files.delete(loading.policy.dumps)
            return Answer()
        case StatusStatement():
            return _status(statement, place)


def _dump(statement: DumpStatement, place: StatementPlace, holder: dict[str, str], report: Report) -> Answer:
    dumping = dumping_of(place, statement)
    policy, settings = dumping.order.policy, dumping.settings
    dumped = ReplDump(Work(policy, holder=holder, report=report), dumping.order).run(dumping.ports)
    if settings.layout == "hive":
        dumped = written_for_hive(dumping.ports, dumping.order, report)
    if not settings.retain_previous_dumps:
        dumps, ttl = parent(policy.dumps), settings.dump_ttl_seconds
        clean_dumps(dumping.ports.dump_files, dumps, ttl, time.time(), report, keep=policy.dumps)
    return Answer(("dump_dir", "last_repl_id"), ((dumped.directory, dumped.last_event),))


def _status(statement: StatusStatement, place: StatementPlace) -> Answer:
    keys_of(place, statement.settings, "status")
    replica = metastore(place.servers(place.loading_cluster()).metastore)
    event_id = replicated_event(replica.database(statement.database))
    return Answer(("last_repl_id",), () if event_id is None else ((event_id,),))
