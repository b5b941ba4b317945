"""Find directories of ours that nothing of a replica uses any more, and take one away after a last look.

Names that readers skip are never among them, but for our own `_tw`: what a running job has not finished lies in such.
"""

from collections.abc import Iterator, Sequence

from twinhive.core.directory_marks.directories import table_mark, table_of
from twinhive.core.model.files import base_name, is_hidden, parent, relative_to
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, Lease, MetastoreReader, WritePorts
from twinhive.replication.apply.managed_locations import managed_root
from twinhive.replication.replica.replica_locations import CONTENTS, event_of_directory
from twinhive.replication.replica.used_directories import UsedPlaces, used_by_name
from twinhive.replication.scan.left_directories import left_below


def unused_directories(
    replica: MetastoreReader, files: FileReader, policy: Policy, position: int, *, in_hives_places: bool = False
) -> Iterator[str]:
    """Yield the topmost directories of ours, made by events up to a position, that nothing registered needs.

    What is in Hive's places bears no event in its name; it is left out, unless it is asked for. In the directories of
    tables that people made, or that became theirs, only what the replica has left is ours.
    """
    root = managed_root(replica, policy)
    places = UsedPlaces.read(replica, policy, root)
    for _, children in files.list_pages([root]):
        made = [
            child.path
            for child in children or ()
            if child.is_directory and _is_of(child.path, position, in_hives_places)
        ]
        ours = {path for path in made if table_mark(files, path) == policy.name}
        yield from unused_among(files, sorted(ours), places, position)
        yield from left_below(files, policy.name, [path for path in made if path not in ours], places)


def take_unused(ports: WritePorts, policy: Policy, root: str, lease: Lease, directory: str) -> str | None:
    """Look once more whether anything of that name uses a directory; take it away, and say how. None where it stays.

    The mark is read again too: what was found may be gone, and another in its place. Raises Refused.
    """
    if used_by_name(ports.replica, policy.replica.database, root, directory):
        return None
    owned = table_of(ports.replica_files, root, directory, policy.name)
    lease.confirm()
    return None if owned is None else owned.take_away(directory)


def _is_of(path: str, position: int, in_hives_places: bool) -> bool:
    """True for a directory that is named as one of ours and made by an event up to the position."""
    event_id = event_of_directory(base_name(path))
    return in_hives_places if event_id is None else event_id <= position


def unused_among(files: FileReader, directories: Sequence[str], places: UsedPlaces, position: int) -> Iterator[str]:
    """Yield those of some directories that nothing needs, and what nothing needs below the others."""
    in_part = []
    for directory in directories:
        if places.holds_rows(directory):
            continue
        # What holds contents of all events may get another one at any time.
        if places.is_above(directory) or base_name(directory) == CONTENTS:
            in_part.append(directory)
        else:
            yield directory
    # By pages: a table may have any number of partitions.
    for _, children in files.list_pages(in_part):
        below = [child.path for child in children or () if child.is_directory and _may_go(child.path, position)]
        yield from unused_among(files, below, places, position)


def _may_go(path: str, position: int) -> bool:
    return not _is_of_others(path) and not _is_later(path, position)


def _is_of_others(path: str) -> bool:
    """True for a name that readers skip and that we do not give: below ours all is ours."""
    name = base_name(path)
    return is_hidden(name) and name != CONTENTS and f"/{CONTENTS}/" not in path


def _is_later(path: str, position: int) -> bool:
    """True for the directory of an event's content that comes after the position: it may be in the making."""
    number = base_name(path).partition("-")[0]
    return base_name(parent(path)) == CONTENTS and number.isdigit() and int(number) > position


def bears_event(path: str, root: str) -> bool:
    """True for what only we name so: the directory of a table as of an event, and what lies in that of its contents.

    Nobody else comes to use it by itself, as Hive's own places are used by the next partition of that name.
    """
    below = relative_to(path, root).split("/")
    return event_of_directory(below[0]) is not None if len(below) == 1 else below[1] == CONTENTS
