"""Find what a replica has left in the directories of tables that people made: it bears a mark of its own."""

from collections.abc import Iterable, Iterator

from twinhive.core.directory_marks.directories import table_mark
from twinhive.core.model.files import base_name, is_hidden
from twinhive.core.ports import FileReader
from twinhive.replication.replica.replica_locations import CONTENTS
from twinhive.replication.replica.used_directories import UsedPlaces


def left_below(files: FileReader, policy: str, around: Iterable[str], places: UsedPlaces) -> Iterator[str]:
    """Yield the topmost directories below some others that bear the policy's mark and that nothing registered needs."""
    for _, children in files.list_pages([one for one in around if not places.holds_rows(one)]):
        found = (child.path for child in children or () if child.is_directory and _is_looked_at(child.path))
        yield from left_among(files, policy, found, places)


def left_among(files: FileReader, policy: str, directories: Iterable[str], places: UsedPlaces) -> Iterator[str]:
    """Yield them from some directories, and from those below.

    Where something lies in one of these that is in use, what is unused below it is other people's, or marked itself.
    """
    unmarked = []
    for one in directories:
        if not places.holds_rows(one) and not places.is_above(one) and table_mark(files, one) == policy:
            yield one
        else:
            unmarked.append(one)
    if unmarked:
        yield from left_below(files, policy, unmarked, places)


def _is_looked_at(path: str) -> bool:
    name = base_name(path)
    return not is_hidden(name) or name == CONTENTS
