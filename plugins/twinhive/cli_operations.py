"""Offer what on-call asks of a policy: resync, skip-event, unlock, pause, forget; each can be rehearsed."""

from pathlib import Path
from typing import Annotated

import typer

from twinhive.cli_base import PolicyName, wiring_of
from twinhive.cli_terminal import Config, holder_of, said_plainly, say
from twinhive.steps.operations import Fields, operation_of

operations = typer.Typer()

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")]


@operations.command()
def resync(
    policy: PolicyName,
    table: Annotated[str, typer.Argument(help="A table or view that the policy selects")],
    dry_run: DryRun = False,
    config: Config = None,
) -> None:
    """Bring one table over as the source has it now, with the next run, and release it from quarantine."""
    _operate("resync", policy, Fields(table=table), config, dry_run=dry_run)


@operations.command("skip-event")
def skip_event(
    policy: PolicyName,
    event_id: Annotated[int, typer.Argument(metavar="ID", min=1, help="The event's id, as the failed task names it")],
    reason: Annotated[str, typer.Option(help="Why the replica can do without it; recorded on the replica")],
    dry_run: DryRun = False,
    config: Config = None,
) -> None:
    """Pass one event over: what it changed will be missing on the replica."""
    _operate("skip-event", policy, Fields(event_id=event_id, reason=reason), config, dry_run=dry_run)


@operations.command()
def unlock(policy: PolicyName, dry_run: DryRun = False, config: Config = None) -> None:
    """Take the lease from a holder that is dead, so that the next run need not wait for it."""
    _operate("unlock", policy, Fields(), config, dry_run=dry_run)


@operations.command()
def pause(
    policy: PolicyName,
    reason: Annotated[str | None, typer.Option(help="Why; shown by status and in the log of each run")] = None,
    off: Annotated[bool, typer.Option("--off", help="Go on.")] = False,
    dry_run: DryRun = False,
    config: Config = None,
) -> None:
    """Begin no further window or scan until --off."""
    if off == bool(reason):
        raise typer.BadParameter("give either --reason '...' to pause, or --off to go on")
    _operate("unpause" if off else "pause", policy, Fields(reason=reason), config, dry_run=dry_run)


@operations.command()
def forget(policy: PolicyName, dry_run: DryRun = False, config: Config = None) -> None:
    """Give the replica up: marks, dumps and staged files go, data and metadata stay."""
    _operate("forget", policy, Fields(), config, dry_run=dry_run)


def _operate(name: str, policy: str, fields: Fields, config: Path | None, *, dry_run: bool) -> None:
    with said_plainly():
        wiring = wiring_of(config, policy)
        operation = operation_of(name, wiring.policy, holder_of(name), fields)
        ports = wiring.write_ports()
        if dry_run:
            say(*operation.plan(ports), "dry run: nothing was changed")
        else:
            say(*operation.run(ports))
