"""Run one REPL statement from its text (seed 002, 'New Commands'): parse, find the clusters, run the step."""

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from twinhive.adapters.hive_source_marker import MetastoreMarker
from twinhive.domain.errors import InvalidSettings, Missing
from twinhive.domain.files import join, parent
from twinhive.domain.policy import DatabaseAddress
from twinhive.dump.sealed import newest_sealed, open_sealed
from twinhive.file_wiring import files
from twinhive.ports import DumpPorts
from twinhive.repl.clusters import StatementPlace
from twinhive.repl.policies import dumping_policy, loading_policy, qualified, with_scope
from twinhive.settings.hive_key_table import StatementKind
from twinhive.settings.hive_keys import resolve
from twinhive.settings.repl_settings import ReplSettings
from twinhive.statements import ReplDump as DumpStatement
from twinhive.statements import ReplLoad as LoadStatement
from twinhive.statements import ReplStatus as StatusStatement
from twinhive.statements import parse, scope_text, to_text
from twinhive.steps.base import Report, Work
from twinhive.steps.repl_clean import clean_dumps
from twinhive.steps.repl_dump import ReplDump
from twinhive.steps.repl_load import ReplLoad, replicated_event
from twinhive.steps.repl_order import DumpOrder
from twinhive.wiring import metastore, ports_between


@dataclass(frozen=True)
class Answer:
    """What a statement returns: names of columns, and rows of values; LOAD returns neither."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str | int, ...], ...] = ()


def run_statement(text: str, place: StatementPlace, holder: Mapping[str, str], report: Report) -> Answer:
    """Run a statement; `holder` says who does, for the lease. Raises InvalidSettings for a text that is none."""
    statement = parse(text)
    running = _Running(place, dict(holder), report)
    match statement:
        case DumpStatement():
            return running.dump(statement)
        case LoadStatement():
            return running.load(statement)
        case StatusStatement():
            return running.status(statement)


@dataclass(frozen=True)
class _Running:
    place: StatementPlace
    holder: dict[str, str]
    report: Report

    def dump(self, statement: DumpStatement) -> Answer:
        """Return the dump's directory and its last event id (Hive's names of the columns)."""
        settings = self._keys(statement.settings, "dump")
        cluster = self.place.dumping_cluster()
        policy = dumping_policy(self.place, cluster, statement.scope, settings, uuid.uuid4().hex)
        source = metastore(self.place.servers(cluster).metastore)
        dump_files = files(self.place.file_system_of(policy.dumps))
        ports = DumpPorts(source, files(self.place.file_system(cluster)), dump_files, MetastoreMarker(source))
        order = DumpOrder(
            policy=policy,
            statement=to_text(statement),
            scope=scope_text(statement.scope),
            replaced=with_scope(policy, statement.replaced) if statement.replaced else None,
            replaces=scope_text(statement.replaced) if statement.replaced else "",
            from_event=statement.from_event,
            to_event=statement.to_event,
            limit=statement.limit,
            metadata_only=settings.metadata_only,
            external_whole=settings.bootstrap_external_tables,
        )
        dumped = ReplDump(Work(policy, holder=self.holder, report=self.report), order).run(ports)
        if not settings.retain_previous_dumps:
            clean_dumps(dump_files, parent(policy.dumps), settings.dump_ttl_seconds, time.time(), self.report)
        return Answer(("dump_dir", "last_repl_id"), ((dumped.directory, dumped.last_event),))

    def load(self, statement: LoadStatement) -> Answer:
        """Bring the replica to the dump's event."""
        settings = self._keys(statement.settings, "load")
        cluster = self.place.loading_cluster()
        directory = self._directory(statement, cluster, settings)
        dump_endpoint = self.place.file_system_of(directory)
        sealed, dump = open_sealed(files(dump_endpoint), directory)
        self.place.cluster_named(sealed.cluster, f"the dump {directory}")
        if statement.into and statement.database not in (None, sealed.database):
            raise InvalidSettings(
                f"the dump {directory} is of another database",
                found=sealed.database,
                expected=str(statement.database),
                next_step=f"REPL LOAD {sealed.database} INTO {statement.into} FROM '{directory}', or name another dump",
            )
        named = statement.into or (statement.database if statement.directory else None)
        replica = DatabaseAddress(cluster, named or sealed.database)
        policy = loading_policy(self.place, replica, sealed, dump.manifest, settings, directory)
        ports = ports_between(self.place.servers(sealed.cluster), self.place.servers(cluster), dump_endpoint)
        ReplLoad(Work(policy, holder=self.holder, report=self.report), dump).run(ports)
        return Answer()

    def status(self, statement: StatusStatement) -> Answer:
        """Return the replicated event id, no row for a database that no replication knows."""
        self._keys(statement.settings, "status")
        replica = metastore(self.place.servers(self.place.loading_cluster()).metastore)
        event_id = replicated_event(replica.database(statement.database))
        return Answer(("last_repl_id",), () if event_id is None else ((event_id,),))

    def _keys(self, said: tuple[tuple[str, str], ...], kind: StatementKind) -> ReplSettings:
        of_policy = self.place.settings
        if of_policy is None:
            return resolve(said, {}, kind)
        return resolve(said, of_policy.hive_conf, kind, self.place.defaults())

    def _directory(self, statement: LoadStatement, cluster: str, settings: ReplSettings) -> str:
        """Return the dump's directory as a URI: as the statement says, else the newest one of its database."""
        root = self.place.file_system(cluster).root
        if statement.directory:
            return qualified(statement.directory.rstrip("/"), root)
        if statement.database is None:
            raise InvalidSettings(
                "REPL LOAD says neither what to load nor from where",
                found="no database and no directory",
                expected="one of them at least",
                next_step="REPL LOAD sales FROM '<the directory that REPL DUMP returned>'",
            )
        dumps = join(qualified(settings.root_directory, root), statement.database)
        newest = newest_sealed(files(self.place.file_system_of(dumps)), dumps)
        if newest is None:
            raise Missing(
                f"there is no dump of database {statement.database} to load",
                found=f"no finished dump in {dumps}",
                expected="a dump that REPL DUMP has finished",
                next_step=f"run REPL DUMP {statement.database}, or say FROM which directory, or where with "
                "WITH ('hive.repl.rootdir'='...')",
            )
        return newest
