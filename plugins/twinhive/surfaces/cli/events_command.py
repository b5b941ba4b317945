"""Show the events of a policy's source, as the replica has them before it."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from twinhive.replication.incremental.event_view import EventView, LogView, WantedEvents, view_log
from twinhive.surfaces.cli.command_line import PolicyArgument, wiring_of
from twinhive.surfaces.cli.json_output import plain, print_json
from twinhive.surfaces.cli.terminal import AsJson, Config, console, errors_shown, escape, say, waiting

app = typer.Typer(rich_markup_mode=None)

_WIDEST = 60


@app.command()
def events(
    policy: PolicyArgument,
    begin: Annotated[
        int | None,
        typer.Option("--from", metavar="ID", min=1, help="The first event; without it, the one after the position."),
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=100_000, help="At most so many events.")] = 50,
    table: Annotated[str | None, typer.Option(help="Only events on this table or view, under an old name too.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also events out of the policy's scope, with the reason.")
    ] = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Show what the source's log holds after the position.

    That is what the next windows will apply, or why not. Of a replica that does not follow, the newest events are
    shown.
    """
    with errors_shown(as_json=as_json):
        wiring = wiring_of(config, policy)
        with waiting("reading the log"):
            found = view_log(wiring.read_ports(), wiring.policy, WantedEvents(begin, limit, table, everything))
    if as_json:
        print_json({"policy": policy, **plain(found)})
        return
    _show(found)


def _show(found: LogView) -> None:
    """Print a line for each event, as wide as it has to be."""
    types = max((len(event.event_type) for event in found.events), default=0)
    subjects = max((len(event.subject) for event in found.events), default=0)
    for event in found.events:
        time = f"{datetime.fromtimestamp(event.time, UTC):%Y-%m-%d %H:%M:%S}"
        line = f"{event.event_id:>8}  {time}  {event.event_type:{types}}  {event.subject:{min(subjects, _WIDEST)}}"
        console.print(f"{escape(line)}  {_note(event)}".rstrip(), highlight=False, soft_wrap=True)
    say(*found.gaps, *_summary(found))


def _note(event: EventView) -> str:
    if event.trouble:
        return f"[red]{escape(event.trouble)}[/]"
    if event.why_not:
        return f"[dim]not applied: {escape(event.why_not)}[/]"
    return f"{event.files:,} files" if event.files else ""


def _summary(found: LogView) -> list[str]:
    at = "does not follow" if found.position is None else f"is at event {found.position}"
    lines = [f"the replica {at}, the newest event is {found.newest}; {len(found.events):,} shown"]
    if found.hidden:
        lines.append(f"{found.hidden:,} not shown: out of scope, or of other tables; --all shows what is out of scope")
    if found.looked_at < found.newest:
        lines.append(f"{found.newest - found.looked_at:,} not looked at yet; go on with --from {found.looked_at + 1}")
    return lines
