"""Objects of the source that cannot be brought over as they are: they cannot be read, or nobody can list their files.

The first are tables and functions. Of the second kind are archived partitions (`har://`), and what else lies on another
file system than the source's.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from twinhive.core.model.errors import ActNow, UnreadableObject, together
from twinhive.core.model.files import is_elsewhere
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear, Exclude, ResyncTable, render
from twinhive.replication.dump.manifest import LeftOutObject

_LONGEST_PLACE = 400
"""Characters that a parameter of a database has room for beside the rest."""
_ANEW = "drop it at the source, and create it there again if anybody needs it: both events bring that"
NamedPlace = tuple[str | None, str]
"""The name of a partition, None for the table itself, and where it lies."""


class FilesElsewhere(ActNow):
    """Files of a managed table lie on another file system than the source's: nobody can list them."""

    why = ""
    """Why its table waits, and what ends that."""


def files_elsewhere(policy: Policy, table: TableName, places: Sequence[NamedPlace], root: str) -> FilesElsewhere:
    """Return the error of a table with files in some places on another file system than `root`."""
    partition, place = places[0]
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    what = f"partition {partition} of table {table}{more}" if partition is not None else f"table {table}"
    also = "" if place.startswith("har:") else "list it at file_system.also where that is another name of it, or "
    error = FilesElsewhere(
        f"managed {what} lies on another file system than the source's: its files cannot be listed",
        found=place,
        expected=f"a directory of {root}",
        next_step=f"bring its files back there ({_way_back(place)}), or {also}"
        + Exclude(table.table)
        + "; then "
        + Clear("the task"),
    )
    error.why = why_it_waits(policy, table.table, partition, place, root)
    return error


def places_elsewhere(table: Table, partitions: Sequence[Partition], root: str) -> list[NamedPlace]:
    """Return which of the directories of a managed table's rows are on another file system."""
    if not table.kind.has_logged_files:
        return []
    if not table.partition_keys:
        return [(None, table.location)] if table.location and is_elsewhere(table.location, root) else []
    placed = ((one.name(table.partition_keys), one.location or "") for one in partitions)
    return [(name, place) for name, place in placed if is_elsewhere(place, root)]


def why_it_waits(policy: Policy, table: str, partition: str | None, place: str, root: str) -> str:
    """Say of a table with files elsewhere why it waits, and what ends that."""
    what = f"partition {partition} lies" if partition else "it lies"
    next_step = Exclude(table) + f", or bring it back there ({_way_back(place)}), then: "
    return (
        f"{what} at {place[:_LONGEST_PLACE]}, where its files cannot be listed; expected: a directory of {root}; "
        f"next: {render(next_step + ResyncTable(policy.name, table))}"
    )


def _way_back(place: str) -> str:
    return "ALTER TABLE ... UNARCHIVE PARTITION" if place.startswith("har:") else "SET LOCATION, with its files"


def said_function(database: str, name: str) -> str:
    """Return what a function that is left out is called."""
    return f"function {database}.{name}".lower()


class UnusableTables:
    """Collect such tables while others are worked on.

    Where the policy quarantines, each is left out and frozen, else one error names them all (`refuse`). Functions are
    taken along: the replica does without those that cannot be read.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._found: dict[TableName, ActNow] = {}
        self._functions: dict[str, ActNow] = {}

    def __contains__(self, table: TableName) -> bool:
        return table in self._found

    @property
    def names(self) -> frozenset[TableName]:
        """The tables so far."""
        return frozenset(self._found)

    @property
    def found(self) -> Mapping[TableName, ActNow]:
        """What is wrong with each of them, in the order of their names."""
        return dict(sorted(self._found.items()))

    @contextmanager
    def if_unusable(self, table: TableName) -> Iterator[None]:
        """Take a table as such a one for what happens inside; the first reason counts."""
        try:
            yield
        except (UnreadableObject, FilesElsewhere) as error:
            self._found.setdefault(table, error)

    def check_places(self, table: Table, partitions: Sequence[Partition], root: str) -> None:
        """Look where the rows of a table lie. Partitions of which there are more may come later."""
        places = places_elsewhere(table, partitions, root)
        with self.if_unusable(table.name):
            if places:
                raise files_elsewhere(self._policy, table.name, places, root)

    def add_functions(self, unreadable: Mapping[str, ActNow]) -> None:
        """Take functions of the source's database along, by their names."""
        self._functions |= {said_function(self._policy.source.database, name): one for name, one in unreadable.items()}

    def add_function_of(self, event_id: int, problem: ActNow) -> None:
        """Take the function of an event along that nobody can read, its name neither."""
        self._functions[f"the function of event {event_id}"] = problem

    @property
    def goes_on(self) -> bool:
        """True where the policy goes on without them."""
        return self._policy.options.on_object_error == "quarantine"

    def refused(self) -> tuple[ActNow, ...]:
        """Return what is wrong with each, unless the policy goes on without them."""
        return () if self.goes_on else (*self.found.values(), *self._functions.values())

    def refuse(self) -> None:
        """Raise one error for all of them, unless the policy goes on without."""
        if refused := self.refused():
            what = "tables and functions" if self._functions else "tables"
            raise together(refused, f"{len(refused)} {what} of {self._policy.source.database} cannot be copied")

    def left_out(self) -> tuple[LeftOutObject, ...]:
        """Return them as what a dump leaves out; the replica freezes each with the reason."""
        tables = (LeftOutObject(str(name), self.why(name), frozen=name.table) for name in sorted(self._found))
        return (*tables, *map(self._of_function, sorted(self._functions)))

    def _of_function(self, name: str) -> LeftOutObject:
        why = self._functions[name].words.what[:_LONGEST_PLACE]
        return LeftOutObject(name, f"{why}; next: {_ANEW}")

    def why(self, table: TableName) -> str:
        """Say why a table waits, and what ends that."""
        error = self._found[table]
        if isinstance(error, FilesElsewhere):
            return error.why
        next_step = (
            Exclude(table.table) + ", or correct it in Hive, then: " + ResyncTable(self._policy.name, table.table)
        )
        return f"{error.words.what[:_LONGEST_PLACE]}; next: {render(next_step)}"
