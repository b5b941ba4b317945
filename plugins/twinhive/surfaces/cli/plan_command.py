"""What a run of a phase would do."""

from typing import Annotated

import typer

from twinhive.runtime.dry_run.rehearsal import rehearse
from twinhive.runtime.pipeline.phases import PHASES, PLACEMENT_PHASES
from twinhive.surfaces.cli.command_line import PolicyArgument, wiring_of
from twinhive.surfaces.cli.exits import exit_of
from twinhive.surfaces.cli.json_output import print_json
from twinhive.surfaces.cli.phase_options import refuse_other_phases, refuse_phase_of_others
from twinhive.surfaces.cli.terminal import AsJson, Config, errors_shown, say, waiting

app = typer.Typer(rich_markup_mode=None)


@app.command()
def plan(
    policy: PolicyArgument,
    phase: Annotated[str, typer.Argument(metavar="PHASE", help=f"One of: {', '.join((*PHASES, *PLACEMENT_PHASES))}")],
    again: Annotated[
        bool, typer.Option("--again", help="Bootstrap: of a published replica that is built anew.")
    ] = False,
    deep: Annotated[bool, typer.Option("--deep", help="Scan: of one that compares every file.")] = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Say what a run would do, in counts and bytes.

    It reads both clusters as they are now, and changes nothing.

    The exit code is 0 when a run would begin, else that of the error that it would stop with.
    """
    refuse_other_phases(phase, again=again, deep=deep)
    with errors_shown(as_json=as_json):
        wiring = wiring_of(config, policy, or_placement=True)
        refuse_phase_of_others(phase, wiring.policy)
        with waiting(f"looking at both clusters for {phase} of {policy}"):
            found = rehearse(phase, wiring.write_ports(), wiring.policy, again=again, deep=deep)
    if as_json:
        print_json(found.as_json())
    else:
        say(*found.lines())
    if found.refusals:
        raise typer.Exit(exit_of(*found.refusals))
