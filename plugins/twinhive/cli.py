"""Replicate Hive warehouses and copy files between clusters, from a terminal.

Exit codes: 0 done, 2 wrong usage, 3 try again later, 4 a person must act first.
"""

import importlib
import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from twinhive.cli_terminal import EXIT_USAGE

# A command is imported when it is called: a copy need not wait for all that policies need.
_GROUPS = {"copy": "twinhive.cli_copy"}
_OTHERS = "twinhive.cli_policies"


class _OnDemand(TyperGroup):
    """Know the commands by name, and load their modules when they are asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Name all commands."""
        return [*_GROUPS, *_loaded(_OTHERS).list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, None for one that does not exist."""
        return _loaded(_GROUPS.get(cmd_name, _OTHERS)).get_command(ctx, cmd_name)


def _loaded(module: str) -> Any:
    return typer.main.get_group(importlib.import_module(module).app)


app = typer.Typer(
    cls=_OnDemand, no_args_is_help=True, add_completion=False, help=__doc__, pretty_exceptions_enable=False
)


@app.callback()
def _root() -> None:
    """Have no command of its own."""


def main() -> None:
    """Run the command line; leave at once, because a JVM in this process may take its time."""
    try:
        # Without its standalone mode the command returns the code of an Exit instead of raising it.
        code = app(standalone_mode=False) or 0
    except typer.Abort:
        code = 130
    except Exception as error:
        # Wrong usage explains itself; everything else is a defect and deserves its traceback.
        if not hasattr(error, "show"):
            raise
        error.show()
        code = EXIT_USAGE
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
