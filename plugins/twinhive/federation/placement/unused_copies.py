"""Find directories of copies that no mark names, and remove them after a time of grace: queries may still read them.

Those in which tables are at home since a move are no copies: no sweep and no retiring takes them away.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from twinhive.core.directory_marks.directories import Owned, proven
from twinhive.core.directory_marks.write_protection import unprotect
from twinhive.core.model.errors import Missing
from twinhive.core.model.files import is_below, join, relative_to
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter, Lease, MetastoreReader, WritePorts
from twinhive.federation.placement.marking_copies import in_pieces
from twinhive.federation.placement.placement_layout import copies_directory, copies_mark, kept, unused_path
from twinhive.federation.routing.marks_table import MarksTable
from twinhive.replication.dump.json_files import read_json, write_json

OF_TABLE = "user.twinhive.copy-of"
"""An attribute of each directory of a table's copies, written when it is made: the name of the table."""
AT_HOME = "(at home)"
"""What it says of a directory in which a table, or partitions of it, are at home since they were moved."""


_REMOVED_AT_ONCE = 64
"""So many directories go after one look at what the metastore uses."""
_OVERDUE = 1.25
"""Times the grace: what has been unused for so long goes, and with it all that has been for the grace."""


@dataclass
class Sweeping:
    """What a sweep has removed, and what it has left in place although nobody marks it."""

    removed: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def owned_copies(files: FileWriter, policy: Policy) -> Owned | None:
    """Return the directory of a placement's copies, None when nothing proves that it is ours."""
    return proven(files, copies_directory(policy), copies_mark(policy))


def sweep(ports: WritePorts, lease: Lease, policy: Policy, used: Collection[str], now: float) -> Sweeping:
    """Remove what was unused at an earlier sweep, longer ago than the grace, and still is.

    To ask the metastore what it uses takes a look at all of a table: so what is due waits a while for others, and some
    of it goes after each look.
    """
    sweeping = Sweeping()
    owned = owned_copies(ports.replica_files, policy)
    if owned is None:
        return sweeping
    seen = read_json(ports.replica_files, unused_path(policy)) or {}
    unused = list(unused_directories(ports.replica_files, owned.directory, used))
    since = {one: seen.get(one, now) for one in unused}
    due = [one for one in unused if now - since[one] >= policy.options.grace_seconds]
    due = due if _is_overdue(policy, since, now) else []
    for some in in_pieces(due, _REMOVED_AT_ONCE):
        named = _named_now(ports, policy, some)  # right before: users may have taken one for a table meanwhile
        for directory in some:
            if directory in named:
                sweeping.left.append(directory)
                since[directory] = now  # asked again after another time of grace
                continue
            lease.confirm()
            unprotect(ports.replica_files, directory)
            owned.take_away(directory)
            sweeping.removed.append(directory)
            del since[directory]
    if since != seen:
        write_json(ports.replica_files, unused_path(policy), since)
    return sweeping


def is_sweep_due(files: FileReader, policy: Policy, now: float) -> bool:
    """True when something has been unused for much longer than the grace, whether or not anything else has happened."""
    return _is_overdue(policy, read_json(files, unused_path(policy)) or {}, now)


def _is_overdue(policy: Policy, seen: Mapping[str, float], now: float) -> bool:
    return any(now - since >= _OVERDUE * policy.options.grace_seconds for since in seen.values())


def unused_directories(files: FileReader, directory: str, used: Collection[str]) -> Iterator[str]:
    """Yield the topmost directories below one that no used one is, lies in or lies above."""
    above = {one[:end] for one in used for end in _ends(one, directory)}
    waiting = [directory]
    while waiting:
        below = []
        for _, page in files.list_pages(waiting):
            for child in page or ():
                if child.path in used or not child.is_directory:
                    continue
                if child.path in above:
                    below.append(child.path)
                else:
                    yield child.path
        waiting = below


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


def _ends(path: str, directory: str) -> Iterator[int]:
    if is_below(path, directory):
        yield from (at for at in range(len(directory) + 1, len(path)) if path[at] == "/")


def _named_now(ports: WritePorts, policy: Policy, directories: Iterable[str]) -> set[str]:
    """Return those that a mark or a location names, by what the metastore says now; also those without proof."""
    found = set[str]()
    of_tables: dict[str, list[str]] = defaultdict(list)
    for directory in directories:
        top = f"{copies_directory(policy)}/{relative_to(directory, copies_directory(policy)).partition('/')[0]}"
        try:
            name = ports.replica_files.attribute(top, OF_TABLE)
        except Missing:
            continue
        if name is None or name == AT_HOME:
            found.add(directory)
        else:
            of_tables[name].append(directory)
    for name, some in of_tables.items():
        found |= _overlapping(some, _places(ports.replica, policy, TableName(policy.source.database, name)))
    return found


def _overlapping(directories: Iterable[str], places: Iterable[str]) -> set[str]:
    """Return those directories that are one of some places, lie in one, or lie around one."""
    known, within = set(directories), dict[str, set[str]]()
    for one in known:
        for around in _with_all_around(one):
            within.setdefault(around, set()).add(one)
    found = set[str]()
    for place in places:
        found |= within.get(place, set())
        found.update(around for around in _with_all_around(place) if around in known)
    return found


def _with_all_around(path: str) -> Iterator[str]:
    yield path
    yield from (path[:at] for at, char in enumerate(path) if char == "/")


def _places(metastore: MetastoreReader, policy: Policy, name: TableName) -> Iterator[str]:
    marked = MarksTable(metastore, name.database, most=policy.options.partitions_per_call)
    yield from (one.mark.location for one in marked.every(table=name.table) if one.mark)
    table = metastore.table(name)
    if table is None:
        return
    yield from filter(None, [table.location])
    if table.partition_keys:
        yield from (place for _, place in metastore.partition_locations(table) if place)
