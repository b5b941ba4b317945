"""What the exit codes of all commands mean."""

from collections.abc import Mapping

from twinhive.model.errors import TryAgain, TwinhiveError

DONE = 0
DEFECT = 1
EXIT_USAGE = 2
EXIT_TRY_AGAIN = 3
EXIT_ACT_NOW = 4
INTERRUPTED = 130

EXITS: Mapping[int, str] = {
    DONE: "done",
    DEFECT: "a defect of twinhive itself; the traceback is for whoever mends it",
    EXIT_USAGE: "wrong usage: an unknown command or option, a value that is not allowed",
    EXIT_TRY_AGAIN: "try again later: a server does not answer, something has changed meanwhile",
    EXIT_ACT_NOW: "a person must act first: the message says what to do next",
    INTERRUPTED: "interrupted from the keyboard",
}


def exits_in_help() -> str:
    """Return the codes for the end of a help text, one a line."""
    return "\b\nExit codes:\n" + "\n".join(f"{code:>4}  {meaning}" for code, meaning in EXITS.items())


def exit_of(*errors: TwinhiveError) -> int:
    """Return what errors mean together: a person's turn comes before a repetition's."""
    if not errors:
        return DONE
    return EXIT_TRY_AGAIN if all(isinstance(error, TryAgain) for error in errors) else EXIT_ACT_NOW
