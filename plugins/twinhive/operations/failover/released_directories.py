"""Take our marks from the directories of a replica that has taken over: what lies in them is its users' from now on.

A mark that stayed would be believed once the database is a replica of the same policy again, when a table that its
users have taken elsewhere may lie in that directory. What the last sweep has seen unused keeps its mark, so that it can
still be removed.
"""

from twinhive.core.directory_marks.directories import release_table
from twinhive.core.model.errors import Refused, TwinhiveError
from twinhive.core.model.files import is_below, join, quoted_path, relative_to
from twinhive.core.model.human_readable import first_of
from twinhive.core.model.marks import DIRECTORY_MARK, Phase, ReplicaState
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import render
from twinhive.core.ports import WritePorts, if_there
from twinhive.core.threads.parallel_map import in_threads
from twinhive.replication.apply.managed_locations import managed_root
from twinhive.replication.scan.unused_note import UnusedNote

_NAMED = 3
_THREADS = 16


def release_directories(ports: WritePorts, policy: Policy) -> list[str]:
    """Take the marks away, and say which stay; may be repeated. Nothing that goes wrong is more than said."""
    try:
        kept = _released(ports, policy)
    except TwinhiveError as error:
        return [
            f"directories of tables of {policy.replica} may bear the policy's mark still: {render(error.words.what)}"
        ]
    if not kept:
        return []
    take = f"hdfs dfs -setfattr -x {DIRECTORY_MARK} {quoted_path(kept[0])}"
    named = ", ".join(first_of(kept, _NAMED))
    return [f"{len(kept)} directories of tables of {policy.replica} bear the policy's mark still: {named}; {take}"]


def _released(ports: WritePorts, policy: Policy) -> list[str]:
    """Return the directories whose mark could not be taken away."""
    files, root = ports.replica_files, managed_root(ports.replica, policy)
    unused = (one for one in UnusedNote.read(files, policy).since if is_below(one, root))
    noted = {join(root, relative_to(one, root).partition("/")[0]) for one in unused}

    def release(directory: str) -> str | None:
        try:
            if_there(release_table, files, directory, policy.name)
        except Refused:
            return directory
        return None

    kept: list[str] = []
    for _, children in files.list_pages([root]):
        directories = [one.path for one in children or () if one.is_directory and one.path not in noted]
        if not _has_taken_over(ports, policy):
            return kept
        kept += filter(None, in_threads(release, directories, _THREADS))
    return kept


def _has_taken_over(ports: WritePorts, policy: Policy) -> bool:
    """False once it follows again, when marks are put on."""
    database = ports.replica.database(policy.replica.database)
    return ReplicaState.read(database.parameters if database else None).phase is Phase.PROMOTED
