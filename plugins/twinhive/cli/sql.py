"""Run a REPL statement from a terminal (seed 002, 'New Commands')."""

from collections.abc import Sequence
from typing import Annotated

import typer

from twinhive.cli.base import configuration_of
from twinhive.cli.connection_sources import resolver
from twinhive.cli.json_output import print_json
from twinhive.cli.pairs import pair
from twinhive.cli.terminal import NOTHING_CHANGED, AsJson, Config, DryRun, errors_shown, holder_of, print_stderr, say
from twinhive.model.policy import Options
from twinhive.model.printable import printable
from twinhive.spark.cluster import SparkCluster
from twinhive.statements.running import Answer, SparkOf, StatementPlace, plan_statement, run_statement

app = typer.Typer(rich_markup_mode=None)


@app.command()
def sql(
    statement: Annotated[str, typer.Argument(metavar="STATEMENT", help="REPL DUMP, REPL LOAD or REPL STATUS")],
    cluster: Annotated[
        str | None,
        typer.Option(help="The cluster that it is said to: the source of a DUMP, the replica of a LOAD or STATUS"),
    ] = None,
    policy: Annotated[
        str | None, typer.Option(help="Run it under this policy: its clusters, hive_conf, options and marks")
    ] = None,
    spark: Annotated[
        str | None,
        typer.Option(metavar="MASTER", help="LOAD: use Spark for large copies: yarn, local[4], spark://host:7077"),
    ] = None,
    tasks: Annotated[
        int | None,
        typer.Option(help="With --spark: tasks that copy at the same time. Default: twinhive.spark.tasks of WITH"),
    ] = None,
    spark_conf: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="With --spark: a setting")] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Run REPL DUMP, REPL LOAD or REPL STATUS.

    DUMP prints the directory of the dump and its last event id, STATUS the replicated event id or nothing, each row on
    a line with tabs between its values; LOAD prints nothing. Lines of progress go to standard error, the lines of a dry
    run to standard output. Grammar and meaning: docs/repl.md.
    """
    with errors_shown(as_json=as_json):
        # --tasks alone says nothing, --spark-conf without --spark is refused.
        copies = _spark(spark, tasks, spark_conf or ()) if spark is not None or spark_conf else None
        place = StatementPlace(configuration_of(config), resolver(), cluster, policy, copies)
        if dry_run:
            _print_plan(plan_statement(statement, place), as_json=as_json)
        else:
            _print_answer(run_statement(statement, place, holder_of("sql"), print_stderr), as_json=as_json)


def _spark(master: str | None, tasks: int | None, conf: Sequence[str]) -> SparkOf:
    said = [pair(text) for text in conf]

    def of(name: str, options: Options) -> SparkCluster:
        at_once = options.spark_tasks if tasks is None else tasks
        return SparkCluster.of(master, at_once, (*options.spark_conf.items(), *said))

    # What is wrong is told before anything is done.
    of("", Options())
    return of


def _print_plan(lines: list[str], *, as_json: bool) -> None:
    if as_json:
        print_json({"dry_run": True, "said": lines})
    else:
        say(*lines, NOTHING_CHANGED)


def _print_answer(answer: Answer, *, as_json: bool) -> None:
    if as_json:
        print_json({"columns": answer.columns, "rows": answer.rows})
        return
    for row in answer.rows:
        # Not rich's console, which makes blanks of tabs: scripts cut the columns.
        typer.echo("\t".join(printable(str(value)) for value in row))
