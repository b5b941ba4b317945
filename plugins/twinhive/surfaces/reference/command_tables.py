"""Write the commands as text: what each does, its arguments and options, from what `--help` shows."""

from collections.abc import Iterator, Mapping
from typing import Any

import typer

from twinhive.surfaces.cli.app import app
from twinhive.surfaces.cli.exits import EXITS

BAR = "\\|"
_TYPES: Mapping[str, str] = {"str": "TEXT", "int": "N", "float": "NUMBER", "Path": "PATH"}
_COMMON = ("--json", "--config", "--help")
"""Options of every command, which the page explains once."""


def exit_codes_table() -> str:
    """Return the exit codes as a table."""
    return "\n".join(
        ["| Code | Meaning |", "|---|---|", *(f"| {code} | {meaning} |" for code, meaning in EXITS.items())]
    )


def commands_section() -> str:
    """Return a section for each command."""
    group: Any = typer.main.get_command(app)
    return "\n\n".join(_section(name, group.get_command(None, name)) for name in group.list_commands(None))


def _section(name: str, command: Any) -> str:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    usage = " ".join(["twinhive", name, *(_argument(param) for param in arguments)])
    purpose = "\n\n".join(" ".join(paragraph.split()) for paragraph in (command.help or "").split("\n\n"))
    rows = [_row(f"`{_argument(param)}`", param) for param in arguments] + list(_option_rows(command))
    return "\n".join([f"### {usage}", "", purpose, *(["", "| | |", "|---|---|", *rows] if rows else [])])


def _option_rows(command: Any) -> Iterator[str]:
    for param in command.params:
        if param.param_type_name == "option" and param.opts[0] not in _COMMON:
            yield _row(_option(param), param)


def _option(param: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))
    if param.is_flag:
        return names
    value = param.metavar or _TYPES[param.bare_type()]
    return f"{names} {value}{', required' if param.required else ''}"


def _argument(param: Any) -> str:
    # The places of a copy are looked at by the command itself: `--sources-from` may hold some of them.
    return param.metavar if param.required or param.nargs != 1 else f"[{param.metavar}]"


def _row(name: str, param: Any) -> str:
    cells = (name, " ".join((param.help or "").split()) + _said_default(param))
    return f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |"


def _said_default(param: Any) -> str:
    default = param.default
    shown = isinstance(default, str | int | float) and not isinstance(default, bool) and default != ""
    return f" Default: {default}" if shown else ""
