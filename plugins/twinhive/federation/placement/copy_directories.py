"""Put the staged files of an object together, let the whole directory appear by one rename; clear what is left over."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from twinhive.core.directory_marks.staging import own_staging
from twinhive.core.directory_marks.write_protection import OWNER_WRITES, protect
from twinhive.core.model.file_names import file_name
from twinhive.core.model.files import Usage, join, parent
from twinhive.core.model.placement.copy_marks import DirectoryState
from twinhive.core.model.policy import Policy
from twinhive.core.model.untrusted_paths import place_below
from twinhive.core.ports import FileReader, FileWriter, Lease, children, rename_into
from twinhive.federation.placement.copied_objects import CopyObject
from twinhive.federation.placement.copy_lists import CopyList, ListedCopies, number_of, objects_of
from twinhive.federation.placement.placement_layout import building_directory, copies_directory, list_directory
from twinhive.federation.placement.unused_copies import OF_TABLE
from twinhive.federation.routing.nested_directories import directory_states
from twinhive.transfer.staged.listing import list_files
from twinhive.transfer.staged.staged_files import CopyItem, base_directory, unfinished_directory


def place_of(policy: Policy, listed: CopyList, one: CopyObject) -> str:
    """Return the directory of an object's copy: `<copies>/<table>.<event>-<token>/<partition>`. Raises ActNow."""
    table = _table_directory(policy, listed, one)
    return table if one.partition is None else place_below(table, one.partition)


def put_in_place(
    files: FileWriter, lease: Lease, policy: Policy, listed: CopyList, one: CopyObject, items: Iterable[CopyItem]
) -> bool:
    """Let an object's copy appear where it belongs; True when it is there, False when not all of it was copied.

    A directory that is there has come by such a rename, of the same list: it is whole. The lease is proved before a
    directory is made among the copies: who retires the placement removes them all, and one that is made after that
    would bear no mark. Nobody may write into it then, its owner included. Raises LeaseLost.
    """
    place = place_of(policy, listed, one)
    if (there := files.status(place)) is not None:
        if there.permission & OWNER_WRITES:  # a kill before the last call
            protect(files, place)
        return True
    building = join(building_directory(policy, listed.name), file_name(one.table.table), one.partition or "table")
    if not _put_together(files, policy, building, items):
        return False
    lease.confirm()
    _prove(files, policy, listed, one, building)
    lease.confirm()
    if not rename_into(files, building, place) and files.status(place) is None:
        return False
    protect(files, place)
    return True


@dataclass(frozen=True)
class WholeCopy:
    """A directory that holds all files of an object, as it was just before they were listed."""

    place: str
    directory: DirectoryState


def whole_copies(
    files: FileReader, places: Mapping[CopyObject, str], objects: ListedCopies
) -> dict[CopyObject, WholeCopy]:
    """Return those copies that hold just the files that were copied, and what their directories are like.

    A directory that was there already is ours by its name; what is in it somebody may have changed.
    """
    states = directory_states(files, places.values(), deep=places.values())
    there = [one for one, place in places.items() if place in states]
    held = dict.fromkeys(there, 0)
    for one, relative, status in list_files(files, [(one, places[one]) for one in there]):
        held[one] += number_of(f"{status.length} {relative}")
    return {
        one: WholeCopy(places[one], states[places[one]])
        for one in there
        if held[one] == sum(number_of(f"{item.length} {item.relative}") for item in objects[one])
    }


def discard_left_over(files: FileWriter, lease: Lease, policy: Policy, listed: CopyList) -> Usage:
    """Discard what earlier runs have left in staging, but for files of this list; return what is staged of these.

    A copy that still runs beside copies again what it misses. Raises LeaseLost.
    """
    staging = own_staging(files, policy)
    if staging is None:
        return Usage(0, 0, 0)
    lease.confirm()
    for path in (building_directory(policy, ""), unfinished_directory(policy.staging)):
        staging.discard(path)
    others, length, number = _staged(files, policy), 0, 0
    for batch in listed.batches:
        for items in objects_of(files, policy, listed.name, batch.name).values():
            for item in items:
                path = item.staged_path(policy.staging)
                if others.get(path) == item.length:
                    del others[path]
                    length, number = length + item.length, number + 1
    lease.confirm()
    for path in others:
        staging.discard(path)
    return Usage(length, number, 0)


def discard_list(files: FileWriter, policy: Policy, name: str) -> None:
    """Remove a list, and what was put together for it."""
    if staging := own_staging(files, policy):
        staging.discard(building_directory(policy, name))
        staging.discard(list_directory(policy, name))


def _staged(files: FileReader, policy: Policy) -> dict[str, int]:
    """Return the lengths of all staged files."""
    pages = files.list_pages([child.path for child in children(files, base_directory(policy.staging))])
    return {status.path: status.length for _, page in pages for status in page or ()}


def _put_together(files: FileWriter, policy: Policy, building: str, items: Iterable[CopyItem]) -> bool:
    files.make_directories(building)
    made = {building}
    for item in items:
        target = place_below(building, item.relative)
        if parent(target) not in made:
            files.make_directories(parent(target))
            made.add(parent(target))
        if files.rename(item.staged_path(policy.staging), target):
            continue
        # An earlier try may have brought it.
        there = files.status(target)
        if there is None or there.length != item.length:
            return False
    return True


def _prove(files: FileWriter, policy: Policy, listed: CopyList, one: CopyObject, building: str) -> None:
    """Write on the directory of the table's copies whose they are: only such ones are ever removed."""
    directory = _table_directory(policy, listed, one)
    if one.partition is None:
        directory = building
    else:
        files.make_directories(directory)
    files.set_attribute(directory, OF_TABLE, one.table.table)


def _table_directory(policy: Policy, listed: CopyList, one: CopyObject) -> str:
    return join(copies_directory(policy), f"{file_name(one.table.table)}.{listed.copies}")
