"""Directories of copies in which tables are at home since a move: no sweep and no retiring may take them for copies."""

from collections.abc import Iterable

from twinhive.core.directory_marks.write_protection import unprotect
from twinhive.core.model.files import is_below, join, relative_to
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter
from twinhive.federation.placement.placement_layout import copies_directory, kept
from twinhive.federation.placement.unused_copies import AT_HOME, OF_TABLE


def become_homes(files: FileWriter, policy: Policy, places: Iterable[str]) -> None:
    """Write on the directories of copies that some places lie in that they hold a table: before any is switched to.

    From then on their owner may write into these places, as into any table's.
    A name would be no proof: the table may be renamed, and another one get its name.
    """
    places = list(places)
    for place in places:
        unprotect(files, place)
    for top in sorted({_top(policy, place) for place in places}):
        if files.attribute(top, OF_TABLE) != AT_HOME:
            files.set_attribute(top, OF_TABLE, AT_HOME)


def homes(files: FileReader, directory: str) -> list[str]:
    """Return the directories in one of copies that hold a table."""
    found = []
    for _, page in files.list_pages([directory]):
        found += [child.path for child in page or () if files.attribute(child.path, OF_TABLE) == AT_HOME]
    return found


def _top(policy: Policy, place: str) -> str:
    around = next(one for one in (copies_directory(policy), *kept(policy).adopts) if is_below(place, one))
    return join(around, relative_to(place, around).partition("/")[0])
