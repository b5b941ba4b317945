"""Replicate Hive warehouses and copy files between clusters, from a terminal."""

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from twinhive.core.model.connections import AIRFLOW, SOURCE_VARIABLE
from twinhive.core.model.exit_codes import ExitCode
from twinhive.surfaces.cli.exits import exits_in_help
from twinhive.surfaces.cli.json_output import print_json, usage_error

# A command's module is imported when the command is called: none need wait for all that the others need.
_MODULES: Mapping[str, str] = {
    "status": "twinhive.surfaces.cli.status_command",
    "plan": "twinhive.surfaces.cli.plan_command",
    "run": "twinhive.surfaces.cli.run_command",
    "clusters": "twinhive.surfaces.cli.clusters_command",
    "copies": "twinhive.surfaces.cli.copies_command",
    "take-copies": "twinhive.surfaces.cli.copies_command",
    "move-primary": "twinhive.surfaces.cli.copies_command",
    "route": "twinhive.surfaces.cli.route_command",
    "copy": "twinhive.surfaces.cli.tree_copy",
    "sql": "twinhive.surfaces.cli.statements.sql",
    "export": "twinhive.surfaces.cli.statements.table_files_command",
    "import": "twinhive.surfaces.cli.statements.table_files_command",
    "gateway": "twinhive.surfaces.cli.gateway_command",
    "remotes": "twinhive.surfaces.cli.remote.remote_command",
    "sets": "twinhive.surfaces.cli.sets.sets_command",
    "publish": "twinhive.surfaces.cli.messages.publish",
    "listen": "twinhive.surfaces.cli.messages.listen",
    "topic": "twinhive.surfaces.cli.messages.topic",
    "events": "twinhive.surfaces.cli.events_command",
    "verify": "twinhive.surfaces.cli.verify_command",
    "check": "twinhive.surfaces.cli.check_command",
    "policies": "twinhive.surfaces.cli.check_command",
    "resync": "twinhive.surfaces.cli.operations_command",
    "repair": "twinhive.surfaces.cli.operations_command",
    "skip-event": "twinhive.surfaces.cli.operations_command",
    "pause": "twinhive.surfaces.cli.operations_command",
    "unlock": "twinhive.surfaces.cli.operations_command",
    "adopt": "twinhive.surfaces.cli.operations_command",
    "failback": "twinhive.surfaces.cli.operations_command",
    "failover": "twinhive.surfaces.cli.operations_command",
    "forget": "twinhive.surfaces.cli.operations_command",
    "retire": "twinhive.surfaces.cli.operations_command",
    "version": "twinhive.surfaces.cli.check_command",
}

_RUN_FOR_WEEKS = frozenset({"publish"})


class _OnDemand(TyperGroup):
    """Know the commands by name, and load their modules when they are asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Name all commands, in the order of the help."""
        return list(_MODULES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, None for one that does not exist."""
        module = _MODULES.get(cmd_name)
        return None if module is None else _commands_of(module).get_command(ctx, cmd_name)


@cache
def _commands_of(module: str) -> Any:
    return typer.main.get_group(importlib.import_module(module).app)


app = typer.Typer(
    cls=_OnDemand,
    no_args_is_help=True,
    add_completion=False,
    help=__doc__,
    epilog=exits_in_help(),
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def _root(
    through_airflow: Annotated[
        bool,
        typer.Option(
            "--airflow",
            help="Take connections from wherever Airflow has them (its environment, secrets backend, database), not "
            "from the variables AIRFLOW_CONN_* alone. Also: TWINHIVE_CONNECTIONS=airflow.",
        ),
    ] = False,
) -> None:
    """Say where connections come from; what is done is a command's."""
    if through_airflow:
        os.environ[SOURCE_VARIABLE] = AIRFLOW


def run(words: Sequence[str]) -> int:
    """Run one command line; return its exit code."""
    try:
        # Without its standalone mode the command returns the code of an Exit instead of raising it.
        return app(list(words), prog_name="twinhive", standalone_mode=False) or 0
    except typer.Abort:
        return ExitCode.INTERRUPTED
    except Exception as error:
        # Wrong usage explains itself; everything else is a defect and deserves its traceback.
        if not hasattr(error, "show"):
            raise
        _add_what_was_found(error)
        if "--json" in words:
            print_json(usage_error(error))
        else:
            error.show()
        return ExitCode.USAGE


def _add_what_was_found(error: Any) -> None:
    """Add a value of the wrong kind to the message, which says only what it should be."""
    problems = getattr(error.__cause__, "errors", None)
    if problems:
        error.message = f"{error.message}; found {problems()[0]['input']!r}"


def main() -> None:
    """Run the command line; leave at once, because a JVM in this process may take its time."""
    if not _RUN_FOR_WEEKS.isdisjoint(sys.argv[1:2]):
        # All else that such a command loads then finds room in what this leaves free.
        from twinhive.runtime.wiring.minimal_imports import keep_client_alone

        keep_client_alone()
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):
        code = 0  # Whoever read our lines has seen enough of them.
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
