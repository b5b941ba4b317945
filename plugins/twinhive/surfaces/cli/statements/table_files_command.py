"""Export a table to a directory, and import one (seed 003), from a terminal."""

from typing import Annotated

import typer

from twinhive.core.model.human_readable import readable
from twinhive.core.model.names import TableName
from twinhive.statements.execution import StatementPlace, plan_statement, run_statement
from twinhive.statements.table_language.table_parsing import table_statement_text
from twinhive.statements.table_language.table_values import ExportStatement, ImportStatement, TableStatement
from twinhive.surfaces.cli.json_output import print_json
from twinhive.surfaces.cli.key_value_options import pair
from twinhive.surfaces.cli.statements.statement_options import SparkConf, SparkMaster, SparkTasks, place_of, print_plan
from twinhive.surfaces.cli.terminal import AsJson, Config, DryRun, errors_shown, holder_of, print_stderr, say

app = typer.Typer(rich_markup_mode=None)

_Cluster = Annotated[str | None, typer.Option(help="A cluster of clusters.yaml; need not be said where there is one")]
_Policy = Annotated[str | None, typer.Option(help="A policy whose options count: threads, bandwidth, Spark")]
_Partition = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="Only partitions with this value, of some of the keys; several times"),
]


@app.command("export")
def export_table(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="database.table")],
    directory: Annotated[str, typer.Argument(metavar="DIRECTORY", help="An absolute path or URI that is not there")],
    cluster: _Cluster = None,
    policy: _Policy = None,
    partition: _Partition = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an export that is there")] = False,
    spark: SparkMaster = None,
    tasks: SparkTasks = None,
    spark_conf: SparkConf = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Export a table, or some partitions, to a directory that Hive's IMPORT reads too.

    It holds the table as of one event of the log, and is there whole or not at all. Cut off, the same command goes on.
    """
    with errors_shown(as_json=as_json):
        statement = ExportStatement(TableName.given(table), directory, _values(partition), overwrite)
        place = place_of(config, cluster, policy, spark, tasks, spark_conf)
        _run(statement, place, dry_run=dry_run, as_json=as_json)


@app.command("import")
def import_table(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="database.table, new or there already")],
    directory: Annotated[str, typer.Argument(metavar="DIRECTORY", help="What EXPORT of Hive or of twinhive has made")],
    cluster: _Cluster = None,
    policy: _Policy = None,
    partition: _Partition = None,
    external: Annotated[
        bool, typer.Option("--external", help="An external table; without --location its files stay in DIRECTORY")
    ] = False,
    location: Annotated[
        str | None, typer.Option(help="Where a new table lies. Default: as CREATE TABLE has it")
    ] = None,
    spark: SparkMaster = None,
    tasks: SparkTasks = None,
    spark_conf: SparkConf = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Import an exported table: as a new one, as partitions of one that is there, or into one without rows.

    What does not fit, and partitions that are there, are refused before anything is copied.
    """
    with errors_shown(as_json=as_json):
        statement = ImportStatement(TableName.given(table), directory, _values(partition), external, location)
        place = place_of(config, cluster, policy, spark, tasks, spark_conf)
        _run(statement, place, dry_run=dry_run, as_json=as_json)


def _run(statement: TableStatement, place: StatementPlace, *, dry_run: bool, as_json: bool) -> None:
    text = table_statement_text(statement)
    if dry_run:
        print_plan(plan_statement(text, place), as_json=as_json)
        return
    answer = run_statement(text, place, holder_of("table"), print_stderr)
    (row,) = answer.rows
    found = dict(zip(answer.columns, row, strict=True))
    if as_json:
        print_json(found)
        return
    where = found.get("location") or found["directory"]
    event = f" as of event {found['event']}" if "event" in found else ""
    partitions = f"{found['partitions']:,} partitions, " if found["partitions"] else ""
    files = f"{found['files']:,} files with {readable(int(found['bytes']))}"
    say(f"{statement.table}{event} is at {where}: {partitions}{files}")


def _values(said: list[str] | None) -> tuple[tuple[str, str], ...]:
    return tuple(pair(text) for text in said or ())
