"""How a process ends: a command, a Spark job, whatever else is started."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What a process tells whoever started it."""

    DONE = 0
    """All of it is done."""
    DEFECT = 1
    """A defect of twinhive itself; the traceback is for whoever mends it."""
    USAGE = 2
    """Wrong usage: an unknown command or option, a value that is not allowed."""
    TRY_AGAIN = 3
    """The same may succeed later: a server does not answer, something has changed meanwhile."""
    ACT_NOW = 4
    """A person must act first: the message says what to do next."""
    UNUSABLE = 5
    """Of a Spark job: its settings, or the executors, cannot be used."""
    INTERRUPTED = 130
    """Interrupted from the keyboard."""


class Unusable(Exception):
    """Settings or executors that no repetition makes usable."""
