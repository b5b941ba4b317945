"""Which directories hold the data of external tables, and which copies bring it (seed 001)."""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.external.modes import External
from twinhive.core.model.files import is_below, parent
from twinhive.core.model.names import TableName, escape_path_name, unescape_path_name
from twinhive.core.model.next_steps import BASE_DIRECTORY, IN_THE_POLICY_FILE

Locations = Iterable[tuple[str, str]]
"""Names and locations of partitions."""


@dataclass(frozen=True, order=True)
class Entry:
    """A directory that an external table's rows are in: its own, or one of a partition elsewhere (`partition`)."""

    table: TableName
    partition: str
    location: str

    @property
    def key(self) -> str:
        """Return its name for people: `sales.events`, `sales.events/day=1`."""
        return f"{self.table}/{self.partition}" if self.partition else str(self.table)

    @property
    def listed_key(self) -> str:
        """Return the name by which lists have it: a slash in the table's name is escaped, as in a partition's."""
        table = f"{self.table.database}.{escape_path_name(self.table.table)}"
        return f"{table}/{self.partition}" if self.partition else table

    @classmethod
    def of_listed_key(cls, key: str, location: str) -> "Entry":
        """Read a name of a list; ValueError for what is none."""
        table, _, partition = key.partition("/")
        name = TableName.parse(table)
        return cls(TableName(name.database, unescape_path_name(name.table)), partition, location)


def entries_of(table: TableName, location: str, partitions: Locations, external: External) -> Iterator[Entry]:
    """Yield the entries of one table: one for itself, and one for each partition outside its directory.

    What stays where it is needs none. Raises InvalidSettings for a place that the policy says nothing of.
    """
    is_copied = external.is_copied(location)
    external.place(location, f"table {table}")
    if is_copied:
        yield Entry(table, "", location)
    inside = location.rstrip("/") + "/" if is_copied else None
    for name, place in partitions:
        if inside is not None and (place.startswith(inside) or place == location):
            continue
        external.place(place, f"partition {name} of {table}")
        if external.is_copied(place):
            yield Entry(table, name, place)


def topmost(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return one entry for each directory that none of the others lies around: these are copied.

    Of entries that share a directory the first by name stands for all.
    """
    by_location: dict[str, Entry] = {}
    for entry in sorted(entries):
        by_location.setdefault(entry.location, entry)
    return tuple(sorted(entry for entry in by_location.values() if not _has_one_above(entry.location, by_location)))


def around(entries: Iterable[Entry]) -> frozenset[str]:
    """Return the locations of some entries, and all directories above them."""
    return frozenset(place for entry in entries for place in (entry.location, *_above(entry.location)))


def _has_one_above(location: str, others: Container[str]) -> bool:
    return any(above in others for above in _above(location))


def _above(location: str) -> Iterator[str]:
    above = parent(location)
    while above and not above.endswith(":/"):
        yield above
        above = parent(above)


def check_places(entries: Iterable[Entry], staying: Iterable[Entry], external: External) -> None:
    """Raise InvalidSettings when data from two places would be in one, or one in the other, on the replica."""
    owners: dict[str, Entry] = {}
    for entry in entries:
        target = external.place(entry.location, entry.key)
        other = owners.setdefault(target, entry)
        if other.location != entry.location:
            raise _in_one_place(other, entry, target)
    _check_nesting(owners)
    # What stays may lie on the replica, where the base directory and a path of the source may meet it.
    around = {above: target for target in owners for above in _above(target)}
    for entry in staying:
        inside = next((above for above in (entry.location, *_above(entry.location)) if above in owners), None)
        if meeting := inside or around.get(entry.location):
            raise _in_one_place(owners[meeting], entry, meeting)


def _check_nesting(owners: Mapping[str, Entry]) -> None:
    """Raise InvalidSettings for a place in another one whose source locations are apart, as on a way back."""
    for target, entry in owners.items():
        for above in _above(target):
            other = owners.get(above)
            if other is not None and not is_below(_plain(entry.location), _plain(other.location)):
                raise _in_one_place(other, entry, above)


def _plain(location: str) -> str:
    """Return a location without empty components, as its place on the replica is."""
    scheme, separator, path = location.partition("://")
    return scheme + separator + "/".join(part for part in path.split("/") if part)


def _in_one_place(one: Entry, other: Entry, target: str) -> InvalidSettings:
    return InvalidSettings(
        f"{one.key} and {other.key} have their data in two places, which would be one on the replica: {target}",
        found=f"{one.location} and {other.location}",
        expected="a place of its own for each on the replica",
        next_step="exclude one of the tables, move one at the source (ALTER TABLE ... SET LOCATION), or choose another "
        + BASE_DIRECTORY
        + ", "
        + IN_THE_POLICY_FILE,
    )
