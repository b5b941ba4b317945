"""Run EXPORT TABLE and IMPORT TABLE (seed 003), or say what they would do."""

from collections.abc import Mapping
from functools import partial
from typing import assert_never

from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.files import qualified
from twinhive.core.model.human_readable import Say
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Options
from twinhive.core.ports.table_writers import TableWriter
from twinhive.runtime.wiring.file_wiring import files, lease_keeper
from twinhive.runtime.wiring.policy_wiring import table_writer
from twinhive.statements.execution.statement_cluster import StatementPlace
from twinhive.statements.execution.statement_results import Answer
from twinhive.statements.execution.table_file_copies import TableFileCopies
from twinhive.statements.table_exports.exporting import ExportTable
from twinhive.statements.table_exports.import_execution import Importing, ImportTools
from twinhive.statements.table_exports.importing import ImportTable
from twinhive.statements.table_language.table_parsing import parse_table_statement, table_statement_text
from twinhive.statements.table_language.table_values import ExportStatement, ImportStatement

_Endpoints = tuple[FileSystemEndpoint, FileSystemEndpoint]


def run_table_files(text: str, place: StatementPlace, holder: Mapping[str, str], say: Say) -> Answer:
    """Run one statement; the row says where, as of which event, and how much. Raises TwinhiveError.

    `holder` says who does, for the lease of an import.
    """
    statement = parse_table_statement(text)
    match statement:
        case ExportStatement():
            return _export(statement, place, say)
        case ImportStatement():
            return _import(statement, place, holder, say)
        case _:
            assert_never(statement)


def plan_table_files(text: str, place: StatementPlace) -> list[str]:
    """Return what running it would do. Raises what running would; nothing is changed."""
    statement = parse_table_statement(text)
    match statement:
        case ExportStatement():
            cluster = place.dumping_cluster()
            order, source = _order(statement, place, cluster), files(place.file_system(cluster))
            metastore = _tables(place, cluster, statement.table)
            lines = order.plan(metastore, source, files(place.file_system_of(order.directory)))
        case ImportStatement():
            cluster = place.loading_cluster()
            found, directory = _looked(statement, place, cluster)
            exported, target = place.file_system_of(directory), place.file_system_of(found.target.location)
            lines = found.plan(_tables(place, cluster, statement.table), files(exported), files(target))
        case _:
            assert_never(statement)
    return [table_statement_text(statement), *lines]


def _export(statement: ExportStatement, place: StatementPlace, say: Say) -> Answer:
    cluster = place.dumping_cluster()
    order = _order(statement, place, cluster)
    source, target = place.file_system(cluster), place.file_system_of(order.directory)
    copies = _copies(place, cluster, (source, target), say)
    metastore = _tables(place, cluster, statement.table)
    done = order.run(metastore, copies.source, copies.target, copies.copy, say)
    columns = ("directory", "event", "partitions", "files", "bytes")
    return Answer(columns, ((done.directory, done.event_id, done.partitions, done.files, done.bytes),))


def _import(statement: ImportStatement, place: StatementPlace, holder: Mapping[str, str], say: Say) -> Answer:
    cluster = place.loading_cluster()
    found, directory = _looked(statement, place, cluster)
    exported, target = place.file_system_of(directory), place.file_system_of(found.target.location)
    copies = _copies(place, cluster, (exported, target), say)
    leases = lease_keeper(target, settle_seconds=place.servers(cluster).metastore.timeout_seconds)
    tables = _tables(place, cluster, statement.table)
    tools = ImportTools(tables, copies.source, copies.target, leases, holder, copies.copy, say)
    done = found.run(tools)
    columns = ("table", "location", "partitions", "files", "bytes")
    return Answer(columns, ((str(done.table), done.location, done.partitions, done.files, done.bytes),))


def _order(statement: ExportStatement, place: StatementPlace, cluster: str) -> ExportTable:
    directory = qualified(statement.directory, place.file_system(cluster).root)
    return ExportTable(statement.table, directory, dict(statement.partition), statement.overwrites)


def _looked(statement: ImportStatement, place: StatementPlace, cluster: str) -> tuple[Importing, str]:
    root = place.file_system(cluster).root
    directory = qualified(statement.directory, root)
    order = ImportTable(
        statement.table,
        directory,
        statement.external,
        dict(statement.partition),
        statement.location and qualified(statement.location, root),
    )
    metastore = _tables(place, cluster, statement.table)
    return order.look(metastore, files(place.file_system_of(directory)), root), directory


def _tables(place: StatementPlace, cluster: str, name: TableName | None) -> TableWriter:
    """Return the metastore of a cluster, whose places of its own file system have the one name."""
    servers = place.servers(cluster, name.database if name else "")
    return servers.with_one_name(table_writer(servers.metastore))


def _copies(place: StatementPlace, cluster: str, endpoints: _Endpoints, say: Say) -> TableFileCopies:
    options = place.defaults().options if place.settings is not None else Options()
    spark = partial(place.spark, cluster, options) if place.spark is not None else None
    source, target = endpoints
    return TableFileCopies(files(source), files(target), endpoints, options, spark, say)
