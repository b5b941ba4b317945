"""Show how far replicas are: all of them in a table, or one with all that is to be known of it."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Column, Table

from twinhive.core.model.human_readable import spoken_time
from twinhive.core.model.marks import UNREACHABLE, UNUSABLE, Phase
from twinhive.operations.actions.replica_status import ReplicaStatus, read_status
from twinhive.operations.failover.promote import said_of_promoted
from twinhive.operations.journal.open_records import monitor_seen
from twinhive.runtime.wiring.lag_wiring import PolicyLag, measure_policies
from twinhive.surfaces.cli.command_line import configuration_of, wiring_of
from twinhive.surfaces.cli.connection_sources import resolver
from twinhive.surfaces.cli.exits import exit_of
from twinhive.surfaces.cli.json_output import plain, print_json
from twinhive.surfaces.cli.terminal import AsJson, Config, console, errors, errors_shown, escape, say, waiting

_SILENT_SECONDS = 300

app = typer.Typer(rich_markup_mode=None)

_COLOURS = {
    Phase.FOLLOWING.value: "green",
    Phase.LOADING.value: "cyan",
    Phase.ABSENT.value: "dim",
    Phase.PROMOTED.value: "magenta",
    UNREACHABLE: "yellow",
    UNUSABLE: "red",
}


@app.command()
def status(
    policy: Annotated[
        str | None, typer.Argument(metavar="POLICY", help="One policy in full; without it, a line for each")
    ] = None,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Show how far replicas are, and what is wrong with them.

    Without POLICY the exit code is that of the worst trouble of any policy: 3 when all that is wrong is a server that
    does not answer, 4 when a person must act. A lag is no trouble, however long: see twinhive.monitor.
    """
    if policy is None:
        _all(config, as_json=as_json)
        return
    with errors_shown(as_json=as_json):
        wiring = wiring_of(config, policy)
        if lines := said_of_promoted(wiring.write_ports(), wiring.policy):
            return _promoted(policy, lines, as_json=as_json)
        found = read_status(wiring.write_ports(), wiring.policy)
        (lag,) = measure_policies(wiring.configuration, resolver(), names=[policy])
    if as_json:
        print_json({**_lag_fields(lag), **_status_fields(found)})
        return
    table = Table(show_header=False)
    for label, value in [*found.rows()[:7], *_lag_rows(lag, found), *found.rows()[7:]]:
        table.add_row(escape(label), escape(value))
    console.print(table)


def _promoted(policy: str, lines: list[str], *, as_json: bool) -> None:
    """Say what a replica is that has taken over; its source, which may be gone, is not asked."""
    if as_json:
        print_json({"policy": policy, "phase": Phase.PROMOTED.value, "said": lines})
    else:
        say(*lines)


def _all(config: Path | None, *, as_json: bool) -> None:
    with errors_shown(as_json=as_json):
        configuration = configuration_of(config)
        with waiting("asking all clusters"):
            found = measure_policies(configuration, resolver())
    code = exit_of(*(lag.error for lag in found if lag.error))
    if as_json:
        policies = [_lag_fields(lag) for lag in found]
        print_json({"policies": policies, "monitor_at": monitor_seen(), "exit_code": code})
    else:
        _print_table(found)
        _print_monitor()
    if code:
        raise typer.Exit(code)


def _print_monitor() -> None:
    """Say when the monitor has last looked, where the journal is known."""
    if (seen := monitor_seen()) is not None:
        ago = max(0.0, time.time() - seen)
        colour = "red" if ago > _SILENT_SECONDS else "dim"
        console.print(f"[{colour}]twinhive.monitor looked {spoken_time(ago)} ago[/]")


def _print_table(found: list[PolicyLag]) -> None:
    table = Table(Column("policy", overflow="fold"), "phase", "position", "newest", "events behind", "lag", "trouble")
    for lag in found:
        colour = "red" if lag.too_late else _COLOURS[lag.phase]
        table.add_row(
            escape(lag.policy),
            f"[{colour}]{lag.phase}[/]",
            _number(lag.replicated),
            _number(lag.newest),
            _number(lag.lag_events) + ("+" if lag.at_least else ""),
            f"[{colour}]{_lag(lag) or _progress(lag)}[/]",
            escape("; ".join(_troubles(lag))),
        )
    console.print(table)
    for lag in found:
        if lag.error and (next_step := lag.error.words.next_step):
            errors.print(f"{lag.policy}: next: {escape(next_step)}", highlight=False, soft_wrap=True)


def _troubles(lag: PolicyLag) -> list[str]:
    paused = [f"paused: {lag.paused}"] if lag.paused else []
    return [*([lag.trouble.partition("\n")[0]] if lag.trouble else []), *paused]


def _lag(lag: PolicyLag) -> str:
    """Return the age of the oldest event that is not applied, and the limit where it is passed."""
    if lag.lag_seconds is None:
        return ""
    limit = f" (max_lag {spoken_time(lag.max_lag)})" if lag.too_late and lag.max_lag is not None else ""
    return spoken_time(lag.lag_seconds) + limit


def _lag_rows(lag: PolicyLag, found: ReplicaStatus) -> list[tuple[str, str]]:
    """Return what was measured of one policy, and what is wrong with it, as lines of its own table."""
    none = "not known" if found.state.phase is Phase.FOLLOWING else "none: the replica does not follow"
    rows = [("lag", _lag(lag) or none)]
    rows += [("first copy", _progress(lag))] if lag.watched.progress else []
    if lag.error:
        rows += [("trouble", lag.error.words.what), ("next", lag.error.words.next_step or "")]
    return rows


def _progress(lag: PolicyLag) -> str:
    """Return how far a first copy is."""
    return lag.watched.progress.text if lag.watched.progress else ""


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _lag_fields(lag: PolicyLag) -> dict[str, Any]:
    progress = lag.watched.progress
    ahead = {"part": progress.part, "rate": progress.rate, "seconds_left": progress.seconds_left} if progress else None
    return {**plain(lag), "progress": ahead, "max_lag": lag.max_lag, "trouble": lag.trouble, "too_late": lag.too_late}


def _status_fields(found: ReplicaStatus) -> dict[str, Any]:
    """Return what is known of one replica beside its lag."""
    return {
        "log_id": found.state.log_id,
        "events_behind": found.behind,
        "events_in_scope": found.in_scope,
        "log_trouble": found.trouble,
        "dump": found.dump,
        "lease": found.holder,
        "external": found.external,
        "verified": None if found.verified is None else asdict(found.verified),
        "quarantined": dict(found.quarantined),
        "pending": dict(found.pending),
        "held_sets": dict(found.held_sets),
        "skipped": plain(found.skipped),
        "waits_for_resync": list(found.requested),
    }
