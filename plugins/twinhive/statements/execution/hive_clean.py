"""Remove, by age, the dumps that we have written in Hive's layout, as soon as no load needs them.

Hive leaves no note of what it is loading: that a dump is not marked as loaded has to mean that it is still needed.
"""

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.text import Reader, render
from twinhive.core.ports import FileWriter
from twinhive.core.step.step_base import Detail, Report
from twinhive.statements.interop.hive_dump.own_dumps import OwnDump, done_with, own_dumps, proven_own


def clean_hive_dumps(
    files: FileWriter, root: str, database: str, older_than: float, report: Report, keep: str
) -> list[str]:
    """Remove those of a database below a root that were made before a time (epoch seconds); return the directories.

    `keep` is the dump that has just been made.
    """
    dumps = [dump for dump in own_dumps(files, root, database) if dump.directory != keep]
    done = done_with(dumps)
    old = [dump for dump in dumps if dump.made_at < older_than]
    return [dump.directory for dump in old if _clean(files, dump, report, is_done=dump in done)]


def _clean(files: FileWriter, dump: OwnDump, report: Report, *, is_done: bool) -> bool:
    """Remove a dump that no load needs; False when it stays. What cannot be removed is said, and keeps no other."""
    try:
        owned = proven_own(files, dump) if is_done else None
        if owned is not None:
            # One call, and no other name before: Hive takes the directory that has changed last for the newest dump.
            report(Detail("Removed dumps", f"{owned.take_away()}, no load needs it: {dump.directory}"))
            return True
        why = "nothing says that twinhive has made it" if is_done else "nobody has marked it as loaded"
        report(Detail("Dumps that are kept", f"kept, {why}: {dump.directory}"))
    except TwinhiveError as error:
        report(Detail("Dumps that are kept", f"kept: {render(error.what, Reader.STATEMENTS)}"))
    return False
