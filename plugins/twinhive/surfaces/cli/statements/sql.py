"""Run a statement from a terminal (seed 002, 'New Commands')."""

from pathlib import Path
from typing import Annotated

import typer

from twinhive.core.model.printable import printable
from twinhive.statements.execution import Answer, plan_statement, run_statement
from twinhive.surfaces.cli.json_output import print_json
from twinhive.surfaces.cli.script_argument import script_text
from twinhive.surfaces.cli.statements.statement_options import SparkConf, SparkMaster, SparkTasks, place_of, print_plan
from twinhive.surfaces.cli.terminal import AsJson, Config, DryRun, errors_shown, holder_of, print_stderr

app = typer.Typer(rich_markup_mode=None)


@app.command()
def sql(
    statement: Annotated[
        str | None,
        typer.Argument(
            metavar="STATEMENT",
            help="REPL DUMP, LOAD or STATUS, EXPORT or IMPORT TABLE, or one about remotes; several are separated by "
            "semicolons; -: standard input",
        ),
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="A file with statements")] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="The cluster that it is said to: the source of a DUMP or EXPORT, the replica of a LOAD"),
    ] = None,
    policy: Annotated[
        str | None, typer.Option(help="Run it under this policy: its clusters, hive_conf, options and marks")
    ] = None,
    spark: SparkMaster = None,
    tasks: SparkTasks = None,
    spark_conf: SparkConf = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Run REPL DUMP, LOAD or STATUS, EXPORT or IMPORT TABLE, or statements about remotes.

    USE CLUSTER in a script names the cluster of what follows, as --cluster does for all; USE CLUSTER without a name
    names none. All is read before any is run; the first that fails ends it. The rows are those of the last statement
    that has any. Queries are not run: twinhive route says where they run, ClusterSqlOperator runs them there.

    DUMP prints the directory of the dump and its last event id, STATUS the replicated event id or nothing, each row on
    a line with tabs between its values; LOAD prints nothing. Lines of progress go to standard error, the lines of a dry
    run to standard output. Grammar and meaning: docs/repl.md, docs/export.md, docs/remotes.md.
    """
    with errors_shown(as_json=as_json):
        place = place_of(config, cluster, policy, spark, tasks, spark_conf)
        text = script_text("sql", statement, file)
        if dry_run:
            print_plan(plan_statement(text, place), as_json=as_json)
        else:
            _print_answer(run_statement(text, place, holder_of("sql"), print_stderr), as_json=as_json)


def _print_answer(answer: Answer, *, as_json: bool) -> None:
    if as_json:
        print_json({"columns": answer.columns, "rows": answer.rows})
        return
    for row in answer.rows:
        # Not rich's console, which makes blanks of tabs: scripts cut the columns.
        typer.echo("\t".join(printable(str(value)) for value in row))
