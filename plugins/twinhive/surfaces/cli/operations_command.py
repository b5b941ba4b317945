"""Offer what on-call asks of a policy: resync, skip-event, unlock, pause, failover, forget, retire."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from twinhive.core.model.marks import Phase
from twinhive.core.model.policy import Policy
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Report
from twinhive.federation.placement.retire import RetirePlacement
from twinhive.operations.actions.operation import Holder, Operation
from twinhive.operations.actions.repair import Repair
from twinhive.operations.failover.failover import Failover, lacks_data
from twinhive.operations.failover.promote import replica_alone
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.operations.operation_kinds import OperationFields, operation_of
from twinhive.runtime.pipeline.runner import run_passes, run_windows
from twinhive.surfaces.cli.command_line import PolicyArgument, wiring_of
from twinhive.surfaces.cli.json_output import print_json
from twinhive.surfaces.cli.terminal import (
    NOTHING_CHANGED,
    AsJson,
    Config,
    DryRun,
    errors_shown,
    holder_of,
    print_stderr,
    say,
    without_airflow,
)

app = typer.Typer(rich_markup_mode=None)
_PASSES = 4
"""So often external data is copied: what comes with the first pass may let windows publish what the next one copies."""


@app.command()
def resync(
    policy: PolicyArgument,
    table: Annotated[
        str | None, typer.Argument(metavar="[TABLE]", help="A table or view that the policy selects")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All that the policy selects; also after a gap in the source's log.")
    ] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Bring one table, or all that differs, over as it is now.

    The next incremental run does it, and releases the tables from quarantine. With --all the events that the replica
    has not reached are not read: what they did is found by comparing, and nothing that is equal is copied.
    """
    if everything == (table is not None):
        raise typer.BadParameter("give either a table, or --all")
    kind = "resync-all" if everything else "resync"
    _operate(kind, policy, OperationFields(table=table), config, dry_run=dry_run, as_json=as_json)


@app.command()
def repair(
    policy: PolicyArgument,
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TABLE]...",
            help="Names, or regular expressions for whole names; without any, the tables of the last findings",
        ),
    ] = None,
    quarantined: Annotated[bool, typer.Option("--quarantined", help="All tables that are frozen.")] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Make tables equal to the source again.

    The next incremental run compares them leaf by leaf, copies what differs, and touches nothing else; readers never
    miss a table. With --dry-run each leaf that differs is named, with what would become of it.
    """
    if quarantined and tables:
        raise typer.BadParameter("give either tables, or --quarantined")
    with errors_shown(as_json=as_json):
        wiring = wiring_of(config, policy)
        operation = Repair(wiring.policy, tuple(tables or ()), holder_of("repair"), quarantined)
        ports = wiring.write_ports()
        lines = operation.plan(ports) if dry_run else operation.run(ports)
    _show("repair", policy, lines or ["nothing to repair"], as_json=as_json, dry_run=dry_run)


@app.command("skip-event")
def skip_event(
    policy: PolicyArgument,
    event_id: Annotated[int, typer.Argument(metavar="ID", min=1, help="The event's id, as the failed task names it")],
    reason: Annotated[str, typer.Option(help="Why the replica can do without it; recorded on the replica")],
    dry_run: DryRun = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Pass one event over.

    What it changed will be missing on the replica.
    """
    _operate(
        "skip-event",
        policy,
        OperationFields(event_id=event_id, reason=reason),
        config,
        dry_run=dry_run,
        as_json=as_json,
    )


@app.command()
def unlock(policy: PolicyArgument, dry_run: DryRun = False, as_json: AsJson = False, config: Config = None) -> None:
    """Take the lease from a holder that is dead.

    The next run need not wait for it then.
    """
    _operate("unlock", policy, OperationFields(), config, dry_run=dry_run, as_json=as_json)


@app.command()
def pause(
    policy: PolicyArgument,
    reason: Annotated[str | None, typer.Option(help="Why; shown by status and in the log of each run")] = None,
    off: Annotated[bool, typer.Option("--off", help="Go on.")] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Begin no further window or scan until --off."""
    if off == bool(reason):
        raise typer.BadParameter("give either --reason '...' to pause, or --off to go on")
    _operate(
        "unpause" if off else "pause", policy, OperationFields(reason=reason), config, dry_run=dry_run, as_json=as_json
    )


@app.command()
def forget(policy: PolicyArgument, dry_run: DryRun = False, as_json: AsJson = False, config: Config = None) -> None:
    """Give the replica up.

    Marks, dumps, staged files and what no table uses any more go; what tables hold stays.
    """
    _operate("forget", policy, OperationFields(), config, dry_run=dry_run, as_json=as_json)


@app.command()
def failover(
    policy: PolicyArgument,
    unplanned: Annotated[bool, typer.Option("--unplanned", help="Do without the source, which may be gone.")] = False,
    at: Annotated[
        int | None, typer.Option(metavar="EVENT", min=0, help="With --unplanned: the event that --dry-run has named.")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="With --unplanned: why.")] = None,
    abort: Annotated[
        bool, typer.Option("--abort", help="Give up a failover that has not taken over: let the writers in again.")
    ] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Let the replica take over from its source.

    Stop all writers of the source first; with failover.fence in the policy file that is done here. Then the replica is
    brought to the newest event, the source has to stand still, both sides are compared, and the replica is opened to
    writers. What speaks against it is named, and nothing but the fence was changed. With --unplanned nobody asks the
    source: what is staged of it is applied, the rest is lost.
    """
    if abort:
        if unplanned or at is not None or reason:
            raise typer.BadParameter("--abort takes nothing else but --dry-run")
        return _operate("failover-abort", policy, OperationFields(), config, dry_run=dry_run, as_json=as_json)
    if unplanned and not dry_run and (at is None or not reason):
        raise typer.BadParameter("--unplanned needs --at and --reason; --dry-run says what would be lost")
    if not unplanned and (at is not None or reason):
        raise typer.BadParameter("--at and --reason are for --unplanned")
    with errors_shown(as_json=as_json), without_airflow():
        wiring, holder = wiring_of(config, policy), holder_of("failover")
        ports = wiring.write_ports()
        report = print_stderr if as_json else say
        catch_up = partial(_follow_to_the_end, wiring.policy, ports, holder, report)
        operation: Operation = Failover(wiring.policy, holder, catch_up=catch_up)
        if unplanned:
            operation = UnplannedFailover(wiring.policy, at or 0, reason or "", holder)
        lines = operation.plan(ports) if dry_run else operation.run(ports)
    _show("failover", policy, lines, as_json=as_json, dry_run=dry_run)


@app.command()
def failback(policy: PolicyArgument, dry_run: DryRun = False, as_json: AsJson = False, config: Config = None) -> None:
    """Make the old primary the replica of what took over from it.

    POLICY is one whose source is the new primary and whose replica is the old one. Nothing is copied: the policy is
    paused, so that people see what differs before the next window brings that over.
    """
    _operate("failback", policy, OperationFields(), config, dry_run=dry_run, as_json=as_json)


@app.command()
def adopt(policy: PolicyArgument, dry_run: DryRun = False, as_json: AsJson = False, config: Config = None) -> None:
    """Make a database that people have filled the replica: seeded with DistCp, or from disks.

    Who filled it says so on it: twinhive.seed = POLICY among its properties. Nothing is copied: the policy is paused,
    so that people see what differs before the next window brings that over, and nothing that is equal.
    """
    _operate("adopt", policy, OperationFields(), config, dry_run=dry_run, as_json=as_json)


def _follow_to_the_end(policy: Policy, ports: WritePorts, holder: Holder, report: Report, token: str) -> None:
    """Apply windows until nothing is left, and copy external data anew that no copy has looked at since the token."""
    _, state = replica_alone(ports, policy)
    if state.phase is not Phase.FOLLOWING:
        return
    for _ in range(_PASSES):
        run_windows(policy, ports, holder, report)
        if not lacks_data(ports, policy, token):
            return
        run_passes(policy, ports, holder, report)


@app.command()
def retire(policy: PolicyArgument, dry_run: DryRun = False, as_json: AsJson = False, config: Config = None) -> None:
    """Take a policy's mark off its source database; or give a placement up, with its copies.

    Dropped files are kept for a policy until then. Hive refuses to drop a database that carries marks. The replica
    stays as it is. Of a placement first all marks go, then its directories.
    """
    with errors_shown(as_json=as_json):
        wiring = wiring_of(config, policy, or_placement=True)
        if wiring.policy.copies is not None:
            retiring = RetirePlacement(wiring.policy, holder_of("retire"))
            lines = retiring.plan(wiring.read_ports()) if dry_run else retiring.run(wiring.write_ports())
            return _show("retire", policy, lines, as_json=as_json, dry_run=dry_run)
        if dry_run:
            said = f"{wiring.policy.source} would carry no mark of {policy} any more"
            return _show("retire", policy, [said], as_json=as_json, dry_run=dry_run)
        wiring.write_ports().source_marker.unmark(wiring.policy.source.database, policy)
    _show("retire", policy, [f"{wiring.policy.source} carries no mark of {policy} any more"], as_json=as_json)


def _operate(
    name: str, policy: str, fields: OperationFields, config: Path | None, *, dry_run: bool, as_json: bool
) -> None:
    with errors_shown(as_json=as_json):
        wiring = wiring_of(config, policy, or_placement=name == "unlock")
        operation = operation_of(name, wiring.policy, holder_of(name), fields)
        ports = wiring.write_ports()
        lines = operation.plan(ports) if dry_run else operation.run(ports)
    _show(name, policy, lines, as_json=as_json, dry_run=dry_run)


def _show(name: str, policy: str, lines: list[str], *, as_json: bool, dry_run: bool = False) -> None:
    if as_json:
        print_json({"policy": policy, "operation": name, "dry_run": dry_run, "said": lines})
    else:
        say(*lines, *([NOTHING_CHANGED] if dry_run else []))
