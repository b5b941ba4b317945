"""The text of a script that a command is given: as an argument, from a file or from standard input."""

import sys
from pathlib import Path

from twinhive.core.model.errors import ActNow
from twinhive.core.model.next_steps import command


def script_text(name: str, said: str | None, file: Path | None) -> str:
    """Return what is said, or what is in the file. Raises ActNow for both, for neither, and for no text.

    name  the command
    said  the argument; `-`: standard input
    """
    if (said is None) == (file is None):
        raise ActNow(
            "which statements are meant is not said",
            found="both a text and a file" if said is not None else "neither a text nor a file",
            expected="one of them",
            next_step="give statements, or a file of them with --file: " + command("twinhive", name, "--help"),
        )
    if file is None:
        return sys.stdin.read() if said == "-" else said or ""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ActNow(
            f"{file} cannot be read",
            found=str(error),
            expected="a text file with statements",
            next_step="correct --file",
        ) from error
