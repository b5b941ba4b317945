"""Say on which cluster statements run, where one metastore has several (seed 000)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from twinhive.core.model.errors import ActNow, TableMoving, TwinhiveError
from twinhive.core.model.exit_codes import ExitCode
from twinhive.runtime.settings import Configuration
from twinhive.surfaces.cli.command_line import configuration_of
from twinhive.surfaces.cli.connection_sources import resolver
from twinhive.surfaces.cli.json_output import print_json
from twinhive.surfaces.cli.script_argument import script_text
from twinhive.surfaces.cli.terminal import AsJson, Config, console, errors_shown, escape, show_error

app = typer.Typer(rich_markup_mode=None)
_SHOWN = 60


@dataclass(frozen=True)
class _Answer:
    sql: str
    cluster: str | None
    why: str
    refused: TwinhiveError | None = None
    passed_over: tuple[str, ...] = ()


@app.command()
def route(
    sql: Annotated[
        str | None, typer.Argument(metavar="SQL", help="Statements, separated by semicolons; -: standard input")
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="A file with statements")] = None,
    database: Annotated[str, typer.Option(help="The database of names without one")] = "default",
    cluster: Annotated[
        str | None, typer.Option(help="Begin with USE CLUSTER of this name: only there, or refused")
    ] = None,
    metastore: Annotated[
        str | None, typer.Option(help="A cluster that uses the metastore; not needed where there is one metastore only")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say also what the clusters lack that were passed over")
    ] = False,
    look: Annotated[
        bool, typer.Option(help="Look at the directories of tables; --no-look believes the log alone")
    ] = True,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Say on which cluster each statement runs, and why; runs none of them.

    A statement runs where the tables that it writes belong; one that writes none where everything is that it reads, by
    primary or by fresh copies. USE CLUSTER in a script names the cluster for what follows, USE CLUSTER without a name
    lets it be found again. The exit code says that a person has to act when a statement can run nowhere.
    """
    with errors_shown(as_json=as_json):
        text = script_text("route", sql, file)
        answers = _routed(configuration_of(config), text, database, cluster, metastore, looks=look)
    if as_json:
        print_json({"statements": [_fields(answer) for answer in answers]})
    else:
        _print(answers, explain=explain)
    if any(answer.refused for answer in answers):
        raise typer.Exit(ExitCode.ACT_NOW)


def _routed(
    configuration: Configuration, text: str, database: str, cluster: str | None, metastore: str | None, *, looks: bool
) -> list[_Answer]:
    # Imported here because reading SQL takes 17 MB.
    from twinhive.federation.routing.cluster_choice import Nowhere
    from twinhive.federation.routing.refusing import refusal, said
    from twinhive.federation.routing.script import statements_of
    from twinhive.federation.routing.statement_reading import read_statement
    from twinhive.federation.routing.temporary_tables import ScriptReader
    from twinhive.runtime.wiring.routing_wiring import RoutingWiring, cluster_of_metastore

    wiring = RoutingWiring(configuration, cluster_of_metastore(configuration, metastore or cluster), resolver())
    found = wiring.resolver(looks=looks)
    answers, reader, known = [], ScriptReader(read_statement), found.clusters.known
    for one in statements_of(text, database.lower(), cluster and known(cluster), known):
        try:
            routed = found.route(reader.uses(one), one.cluster)
        except (ActNow, TableMoving) as error:
            answers.append(_Answer(one.sql, None, "", error))
            continue
        if isinstance(routed, Nowhere):
            answers.append(_Answer(one.sql, None, "", refusal(routed, wiring.placement_of)))
        else:
            answers.append(_Answer(one.sql, routed.cluster, routed.why, None, tuple(map(said, routed.passed_over))))
    return answers


def _fields(answer: _Answer) -> dict[str, Any]:
    fields: dict[str, Any] = {"sql": answer.sql, "cluster": answer.cluster, "why": answer.why}
    if answer.passed_over:
        fields["passed_over"] = list(answer.passed_over)
    if answer.refused:
        words = answer.refused.words
        fields["refused"] = {
            "what": words.what,
            "found": words.found,
            "expected": words.expected,
            "next": words.next_step,
        }
    return fields


def _print(answers: list[_Answer], *, explain: bool) -> None:
    table = Table("statement", "cluster", "why", box=None, pad_edge=False)
    for answer in answers:
        shown = " ".join(answer.sql.split())
        shown = shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."
        table.add_row(escape(shown), escape(answer.cluster or "refused"), escape(answer.why))
    console.print(table)
    for answer in answers:
        if explain:
            for line in answer.passed_over:
                console.print(f"passed over {escape(line)}")
        if answer.refused:
            show_error(answer.refused)
