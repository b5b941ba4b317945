"""What the exit codes of all commands mean."""

from collections.abc import Mapping

from twinhive.core.model.errors import TryAgain, TwinhiveError, family_of
from twinhive.core.model.exit_codes import ExitCode

EXITS: Mapping[ExitCode, str] = {
    ExitCode.DONE: "done",
    ExitCode.DEFECT: "a defect of twinhive itself; the traceback is for whoever mends it",
    ExitCode.USAGE: "wrong usage: an unknown command or option, a value that is not allowed",
    ExitCode.TRY_AGAIN: "try again later: a server does not answer, something has changed meanwhile",
    ExitCode.ACT_NOW: "a person must act first: the message says what to do next",
    ExitCode.INTERRUPTED: "interrupted from the keyboard",
}


def exits_in_help() -> str:
    """Return the codes for the end of a help text, one a line."""
    return "\b\nExit codes:\n" + "\n".join(f"{code:>4}  {meaning}" for code, meaning in EXITS.items())


def exit_of(*errors: TwinhiveError) -> ExitCode:
    """Return what errors mean together. An answer that nobody knows is a person's turn at once: nothing is repeated."""
    if not errors:
        return ExitCode.DONE
    return ExitCode.TRY_AGAIN if family_of(errors) is TryAgain else ExitCode.ACT_NOW
