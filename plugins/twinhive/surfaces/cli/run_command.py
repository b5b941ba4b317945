"""Run the phases of a policy: the same stages as the DAGs, without Airflow."""

from typing import Annotated

import typer

from twinhive.runtime.pipeline.phases import PHASES, PLACEMENT_PHASES
from twinhive.runtime.pipeline.runner import run_whole
from twinhive.surfaces.cli.command_line import PolicyArgument, wiring_of
from twinhive.surfaces.cli.json_output import print_json
from twinhive.surfaces.cli.phase_options import refuse_other_phases, refuse_phase_of_others
from twinhive.surfaces.cli.progress_bar import phase_progress
from twinhive.surfaces.cli.terminal import (
    AsJson,
    Config,
    console,
    errors,
    errors_shown,
    holder_of,
    print_stderr,
    say,
    without_airflow,
)

app = typer.Typer(rich_markup_mode=None)


@app.command()
def run(
    policy: PolicyArgument,
    phase: Annotated[str, typer.Argument(metavar="PHASE", help=f"One of: {', '.join((*PHASES, *PLACEMENT_PHASES))}")],
    again: Annotated[bool, typer.Option("--again", help="Bootstrap: build a published replica anew.")] = False,
    deep: Annotated[bool, typer.Option("--deep", help="Scan: compare every file.")] = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Run a phase here and now, without Airflow and Spark.

    The same stages as the DAG's; files are copied in this process. A bootstrap goes on until the replica is published;
    incremental applies one window; external looks at every external table once; copies brings those of a placement up
    to date. With --json the lines of progress go to
    standard error.
    """
    refuse_other_phases(phase, again=again, deep=deep)
    with errors_shown(as_json=as_json), without_airflow():
        wiring = wiring_of(config, policy, or_placement=True)
        refuse_phase_of_others(phase, wiring.policy)
        ports = wiring.write_ports()
        report, shown = (print_stderr, errors) if as_json else (say, console)
        with phase_progress(shown, f"{phase} of {policy}") as watch:
            results = run_whole(phase, wiring.policy, ports, holder_of(phase), report, watch, again=again, deep=deep)
        if as_json:
            print_json({"policy": policy, "phase": phase, "results": results})
