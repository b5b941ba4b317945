"""Prove that a replica equals its source, or say where it does not."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from math import ceil
from typing import Annotated

import typer

from twinhive.core.model.exit_codes import ExitCode
from twinhive.core.model.next_steps import command
from twinhive.core.model.text import Text
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.operation import following_state
from twinhive.replication.verify.recheck import different
from twinhive.replication.verify.verification_outcome import Verified
from twinhive.replication.verify.verify import Verify
from twinhive.surfaces.cli.command_line import PolicyArgument, wiring_of
from twinhive.surfaces.cli.json_output import print_json
from twinhive.surfaces.cli.terminal import AsJson, Config, errors_shown, holder_of, print_stderr, say, show_error

app = typer.Typer(rich_markup_mode=None)


@app.command()
def verify(
    policy: PolicyArgument,
    tables: Annotated[
        list[str] | None, typer.Argument(metavar="[TABLE]...", help="These alone; without any, all the policy selects")
    ] = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Look at every leaf and compare the checksums of every file.")
    ] = False,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Compare the replica with its source at a common event, and change nothing.

    The exit code is 0 when all there is was judged and is equal; 3 when something differs that has to be looked at
    again, a quarter of an hour after it was first seen, or could not be judged; 4 with findings: what differed
    twice, and no event explains. What is remembered of earlier looks is not read again.
    """
    with errors_shown(as_json=as_json):
        wiring = wiring_of(config, policy)
        ports, database = wiring.write_ports(), wiring.policy.source.database
        following_state(ports, wiring.policy, "a verification")
        names = tuple(table.lower().removeprefix(f"{database}.") for table in tables or ())
        work = Work(wiring.policy, holder=holder_of("verify"), report=print_stderr if as_json else say)
        found = Verify(work, names, deep).run(ports)
    code = _exit_of(found)
    if as_json:
        print_json({"policy": policy, **asdict(found), "exit_code": code})
    else:
        say(*_when_again(policy, names, found))
        if found.found:
            show_error(different(wiring.policy, found))
    if code:
        raise typer.Exit(code)


def _when_again(policy: str, tables: Sequence[str], found: Verified) -> Iterator[Text]:
    """Say when what differs can be judged."""
    if found.look_again_at is not None:
        at = datetime.fromtimestamp(ceil(found.look_again_at), UTC)
        again = command("twinhive", "verify", policy, *tables)
        yield f"what differs can be judged from {at:%Y-%m-%d %H:%M:%S} UTC on: " + again


def _exit_of(found: Verified) -> int:
    if found.found:
        return ExitCode.ACT_NOW
    return ExitCode.DONE if found.is_equal else ExitCode.TRY_AGAIN
