"""Run a REPL statement from a terminal (seed 002, 'New Commands')."""

from typing import Annotated

import typer

from twinhive.cli_base import configuration_of
from twinhive.cli_json import print_json
from twinhive.cli_terminal import AsJson, Config, holder_of, said_plainly, say_aside
from twinhive.repl import Answer, StatementPlace, run_statement
from twinhive.settings import resolve_from_environment

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
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Run REPL DUMP, REPL LOAD or REPL STATUS.

    DUMP prints the directory of the dump and its last event id, STATUS the replicated event id or nothing, each row on
    a line with tabs between its values; LOAD prints nothing. Lines of progress go to standard error. Grammar and
    meaning: docs/repl.md.
    """
    with said_plainly(as_json=as_json):
        place = StatementPlace(configuration_of(config), resolve_from_environment, cluster, policy)
        answer = run_statement(statement, place, holder_of("sql"), say_aside)
        if as_json:
            print_json({"columns": answer.columns, "rows": answer.rows})
        else:
            _print(answer)


def _print(answer: Answer) -> None:
    for row in answer.rows:
        # Not rich's console, which makes blanks of tabs: scripts cut the columns.
        typer.echo("\t".join(map(str, row)))
