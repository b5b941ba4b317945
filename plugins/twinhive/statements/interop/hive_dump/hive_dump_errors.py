"""Why a dump of Hive cannot be read, or why what we have cannot be said in one."""

from twinhive.core.model.errors import ActNow, Missing

_DUMP_AGAIN = "run Hive's REPL DUMP again at the source, and load what that returns"
OUR_LAYOUT = "dump it in twinhive's own layout: leave out 'twinhive.dump.layout'='hive'"


def unreadable(path: str, found: object, expected: object) -> ActNow:
    """Return the error for a file of Hive's dump that is not as Hive 4 writes it."""
    return ActNow(f"{path} of Hive's dump cannot be read", found=found, expected=expected, next_step=_DUMP_AGAIN)


def incomplete(directory: str, found: object, expected: object) -> Missing:
    """Return the error for a dump of Hive that lacks a part."""
    return Missing(f"Hive's dump {directory} is not whole", found=found, expected=expected, next_step=_DUMP_AGAIN)


def unsayable(what: str, found: object, expected: object, next_step: str = OUR_LAYOUT) -> ActNow:
    """Return the error for something that Hive's layout has no way to say."""
    return ActNow(
        f"Hive's dump layout cannot say {what}; nothing was written",
        found=found,
        expected=expected,
        next_step=next_step,
    )


def unusable(what: str, found: object, expected: object) -> ActNow:
    """Return the error for something in Hive's dump that cannot be followed."""
    return ActNow(
        f"{what} cannot be taken over from Hive's dump",
        found=found,
        expected=expected,
        next_step="bring the replica up to date with twinhive's own REPL DUMP and REPL LOAD, which read the log itself",
    )
