"""Run and inspect policies: the same stages as the DAGs, without Airflow."""

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from twinhive import __version__
from twinhive.cli_base import PolicyName, configuration_of, wiring_of
from twinhive.cli_operations import operations
from twinhive.cli_terminal import EXIT_ACT_NOW, Config, console, errors, holder_of, said_plainly, say
from twinhive.settings import PolicyEntry
from twinhive.steps.phase_run import run_bootstrap, run_passes, run_phase, run_rounds
from twinhive.steps.phases import PHASES
from twinhive.steps.replica_status import read_status

app = typer.Typer()


@app.command()
def version() -> None:
    """Print the version."""
    console.print(__version__)


@app.command()
def policies(config: Config = None) -> None:
    """List all policies, usable or not."""
    with said_plainly():
        entries = configuration_of(config).policies
    table = Table("policy", "source", "replica", "file", "state")
    for entry in sorted(entries.values(), key=lambda entry: entry.name):
        table.add_row(*_row(entry))
    console.print(table)


def _row(entry: PolicyEntry) -> tuple[str, ...]:
    state = f"[red]{escape(entry.error)}[/]" if entry.error else "[green]usable[/]"
    if entry.settings is None:
        return entry.name, "", "", entry.path.name, state
    source, replica = entry.settings.source, entry.settings.replica
    return (
        entry.name,
        f"{source.cluster}/{source.database}",
        f"{replica.cluster}/{replica.database}",
        entry.path.name,
        state,
    )


@app.command()
def check(
    policy: Annotated[str | None, typer.Argument(help="One policy; without it, all")] = None,
    config: Config = None,
) -> None:
    """Validate the configuration without touching any server."""
    with said_plainly():
        configuration = configuration_of(config)
        names = [policy] if policy else sorted(configuration.policies)
        broken = [entry for entry in map(configuration.policy, names) if entry.error]
        for entry in broken:
            errors.print(f"[red]{escape(entry.error or '')}[/]", highlight=False, soft_wrap=True)
        if broken:
            raise typer.Exit(EXIT_ACT_NOW)
        console.print(f"{len(names)} policies can be used")


@app.command()
def status(policy: PolicyName, config: Config = None) -> None:
    """Show how far the replica of a policy is, what is wrong with it, and what waits."""
    with said_plainly():
        wiring = wiring_of(config, policy)
        rows = read_status(wiring.write_ports(), wiring.policy).rows()
    table = Table(show_header=False)
    for label, value in rows:
        table.add_row(escape(label), escape(value))
    console.print(table)


@app.command()
def retire(policy: PolicyName, config: Config = None) -> None:
    """Take a policy's mark off its source database, whose dropped files are kept for it until then.

    Hive refuses to drop a database that carries marks. The replica stays as it is.
    """
    with said_plainly():
        wiring = wiring_of(config, policy)
        wiring.write_ports().source_marker.unmark(wiring.policy.source.database, policy)
        console.print(f"{wiring.policy.source} carries no mark of {policy} any more")


@app.command()
def run(
    policy: PolicyName,
    phase: Annotated[str, typer.Argument(help=f"One of: {', '.join(PHASES)}")],
    again: Annotated[bool, typer.Option("--again", help="Bootstrap: build a published replica anew.")] = False,
    config: Config = None,
) -> None:
    """Run a phase here and now, copying in this process instead of by Spark.

    A bootstrap goes on until the replica is published; incremental applies one window; external looks at every external
    table once.
    """
    if phase not in PHASES:
        raise typer.BadParameter(f"{phase!r} is not a phase; expected one of {', '.join(PHASES)}")
    if again and phase != "bootstrap":
        raise typer.BadParameter(f"--again is for the phase bootstrap, not for {phase}")
    with said_plainly():
        wiring = wiring_of(config, policy)
        ports, holder = wiring.write_ports(), holder_of(phase)
        match phase:
            case "bootstrap":
                run_bootstrap(wiring.policy, ports, holder, say, again=again)
            case "consolidate":
                run_rounds(wiring.policy, ports, holder, say)
            case "external":
                run_passes(wiring.policy, ports, holder, say)
            case _:
                run_phase(PHASES[phase], wiring.policy, ports, holder, say)


app.add_typer(operations)
