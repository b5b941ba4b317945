"""Run a statement from a terminal (seed 002, 'New Commands')."""

from typing import Annotated

import typer

from twinhive.cli.json_output import print_json
from twinhive.cli.statements.runs import SparkConf, SparkMaster, SparkTasks, place_of, print_plan
from twinhive.cli.terminal import AsJson, Config, DryRun, errors_shown, holder_of, print_stderr
from twinhive.model.printable import printable
from twinhive.statements.running import Answer, plan_statement, run_statement

app = typer.Typer(rich_markup_mode=None)


@app.command()
def sql(
    statement: Annotated[
        str,
        typer.Argument(
            metavar="STATEMENT", help="REPL DUMP, LOAD or STATUS, EXPORT or IMPORT TABLE, or one about remotes"
        ),
    ],
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

    DUMP prints the directory of the dump and its last event id, STATUS the replicated event id or nothing, each row on
    a line with tabs between its values; LOAD prints nothing. Lines of progress go to standard error, the lines of a dry
    run to standard output. Grammar and meaning: docs/repl.md, docs/export.md, docs/remotes.md.
    """
    with errors_shown(as_json=as_json):
        place = place_of(config, cluster, policy, spark, tasks, spark_conf)
        if dry_run:
            print_plan(plan_statement(statement, place), as_json=as_json)
        else:
            _print_answer(run_statement(statement, place, holder_of("sql"), print_stderr), as_json=as_json)


def _print_answer(answer: Answer, *, as_json: bool) -> None:
    if as_json:
        print_json({"columns": answer.columns, "rows": answer.rows})
        return
    for row in answer.rows:
        # Not rich's console, which makes blanks of tabs: scripts cut the columns.
        typer.echo("\t".join(printable(str(value)) for value in row))
