"""Record what a source was after each of its events.

Metadata is read after each call of its users. Of files only those count that an event has told: a
writer's files lie in the directory before its event says so, and what an overwrite removes is gone
before its event. `Moment` keeps apart what readers of the source could see of that meanwhile.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from tests.checker.states import NO_FILES, DatabaseState, Files, Pairs, TableState, Values, Viewer
from tests.support.users.source_writer import SourceMetastore
from twinhive.core.model.files import is_below
from twinhive.core.ports import FileWriter

Key = tuple[str, Values | None]
"""What has files: a table, or a partition by its values."""
Told = dict[Key, Files]


@dataclass(frozen=True)
class Append:
    """The files that one event adds to one object."""

    key: Key
    files: Files


@dataclass
class Directory:
    """What a directory of the source held beside what events tell, from the event on that filled or named it.

    `untold` are files that were there without an event, `gone` those that were told and not there any more, `nested`
    those deeper than events name. `is_moved`: an object that was elsewhere got it with all that is in it, and `before`
    is what that object held until then. `is_passed`: a later event has replaced or removed all of it, without a word
    of more files until then (`is_appended`). `is_left`: its object lies elsewhere now; what something else puts there
    then passes it as well.
    """

    nested: Files = NO_FILES
    before: Files = NO_FILES
    is_moved: bool = False
    untold: Files = NO_FILES
    gone: Files = NO_FILES
    is_passed: bool = False
    is_appended: bool = False
    is_left: bool = False


@dataclass
class Moment:
    """What the source was after an event, and until the next one.

    `append` is what the event itself added to an object. `untold` are files that were there without an event,
    `gone` those that an event has told and that were not there any more. `late` are the columns that a
    partition had before changes of its table's columns that no event has told of it (CASCADE). `whole` are tables of
    which the event does not tell all that they hold: one that came from another database, one with another location.
    `renamed` are the two names of a table that the event has renamed.
    """

    event_id: int
    state: DatabaseState
    what: str = ""
    append: Append | None = None
    untold: set[tuple[str, str]] = field(default_factory=set)
    gone: set[tuple[str, str]] = field(default_factory=set)
    late: Mapping[Key, frozenset[Pairs]] = field(default_factory=dict)
    directories: Mapping[Key, Directory] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()
    renamed: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"event {self.event_id} ({self.what})"


class Timeline:
    """Hold the moments in the order of their events."""

    def __init__(self, moments: Iterable[Moment] = ()) -> None:
        self.moments = list(moments)

    def add(self, moment: Moment) -> None:
        """Add the newest moment."""
        assert not self.moments or moment.event_id > self.newest.event_id
        self.moments.append(moment)

    @property
    def newest(self) -> Moment:
        """Return the newest moment."""
        return self.moments[-1]

    def index_at(self, event_id: int) -> int:
        """Return the index of the newest moment that is not after an event; 0 before all."""
        return max(bisect_right(self.moments, event_id, key=lambda moment: moment.event_id) - 1, 0)


class Follower(Protocol):
    """Wants to know more of a source than its timeline says."""

    def look(self, state: DatabaseState, tables: Collection[str]) -> None:
        """Note what readers see of some tables, after the newest moment."""
        ...


class Recorder:
    """Keep the timeline of one source database, told of each call that changes it."""

    def __init__(self, metastore: SourceMetastore, files: FileWriter, database: str) -> None:
        self.timeline = Timeline()
        self.database = database
        self._metastore = metastore
        self._viewer = Viewer(metastore, files, database)
        self._there = self._viewer.state()
        self._told: Told = dict(files_of(self._there))
        self._late: dict[Key, frozenset[Pairs]] = {}
        self._directories: dict[Key, Directory] = {key: Directory() for key in self._told}
        self._left: list[tuple[frozenset[str], Directory]] = []
        self._places = dict(self._viewer.places)
        self.followers: list[Follower] = []
        self._note("the beginning", None)

    @property
    def there(self) -> DatabaseState:
        """Return what readers of the source see."""
        return self._there

    @property
    def tables(self) -> list[str]:
        """Return the names of all tables and views."""
        return [name for name, _ in self._there.tables]

    def called(
        self,
        what: str,
        tables: Collection[str],
        told: Mapping[Key, Files | None],
        append: Append | None = None,
        *,
        moved: Collection[Key] = (),
        whole: Collection[str] = (),
        renamed: Collection[str] = (),
    ) -> None:
        """Note a call that concerned some tables; `told` are files as its events tell them, None for all there are."""
        places = self._places.keys()
        self.look(tables)
        self._take(self._places.keys() - places)
        there, before = files_of(self._there), self._told
        now = before | {key: there.get(key, NO_FILES) if files is None else files for key, files in told.items()}
        self._told = {key: now.get(key, NO_FILES) for key in there}
        self._late = {key: late for key, late in self._late.items() if key in there}
        left = self._fill(
            {*told} if append is None else set(), {} if append is None else {append.key: None}, moved, before
        )
        self._left += [(frozenset(places - self._places.keys()), one) for one in left]
        self._note(what, append, frozenset(whole), frozenset(renamed))
        for follower in self.followers:
            follower.look(self._there, tables)

    def noted(self, what: str) -> None:
        """Note an event that changes nothing which both sides must have equal."""
        self._note(what, None)

    def _take(self, places: Collection[str]) -> None:
        """Note that something lies in places by now that others had left."""
        for gone, directory in self._left:
            both = ((one, other) for one in gone for other in places)
            directory.is_passed |= any(
                one == other or is_below(one, other) or is_below(other, one) for one, other in both
            )

    def _fill(
        self, filled: set[Key], appended: Collection[Key], moved: Collection[Key], before: Told
    ) -> list[Directory]:
        """Note whose directories have other content now, and whose are other ones; return those that were left."""
        left = []
        for key in appended:
            self._directories[key].is_appended = True
        for key in {*filled, *(self._directories.keys() - self._told.keys())} & self._directories.keys():
            old = self._directories.pop(key)
            old.is_left, old.is_passed = key in moved, key not in moved
            left += [old] if old.is_left else []
        for key in self._told.keys() - self._directories.keys():
            nested = frozenset(pair for pair in self._told[key] if "/" in pair[0])
            was = before.get(key, NO_FILES) if key in moved else NO_FILES
            self._directories[key] = Directory(nested, was, is_moved=key in moved)
        return left

    def look(self, tables: Collection[str]) -> None:
        """Read tables again; what is there without an event is noted with the newest moment."""
        tables = {*tables, *self._referring_to(tables)}
        database = self._viewer.state(only=())
        kept = {name: table for name, table in self._there.tables if name not in tables}
        self._there = database.with_tables(kept | self._viewer.tables(tables))
        self._places = {place: table for place, table in self._places.items() if table not in tables}
        self._places |= self._viewer.places
        if self.timeline.moments:
            self._note_untold()
            for follower in self.followers:
                follower.look(self._there, tables)

    def _referring_to(self, tables: Collection[str]) -> list[str]:
        """Return the tables with foreign keys to others: what becomes of those becomes of these."""
        endings = tuple(f" in {table}" for table in tables)
        return [name for name, state in self._there.tables if any(one.endswith(endings) for one in state.constraints)]

    def look_at(self, path: str) -> None:
        """Read the table again in whose place a path is."""
        if tables := {table for place, table in self._places.items() if place == path or is_below(path, place)}:
            self.look(tables)

    def rename(self, names: Mapping[Key, Key]) -> None:
        """Give what is told of objects to their new names."""
        moved = {new: self._told.pop(old, NO_FILES) for old, new in names.items()}
        self._told |= moved
        late = {new: self._late.pop(old) for old, new in names.items() if old in self._late}
        self._late |= late
        directories = {new: self._directories.pop(old) for old, new in names.items() if old in self._directories}
        self._directories |= directories

    def cascaded(self, table: str) -> None:
        """Note that the columns of a table's partitions are about to change without a word in the log."""
        for values, partition in dict(self._there.tables)[table].partitions:
            late = self._late.get((table, values), frozenset())
            self._late[table, values] = late | {partition.columns}

    def spelled_out(self, keys: Iterable[Key]) -> None:
        """Note that an event tells all of some partitions."""
        for key in keys:
            self._late.pop(key, None)

    def keys_of(self, table: str) -> list[Key]:
        """Return the keys of a table and of its partitions."""
        return [key for key in self._told if key[0] == table]

    def told(self, key: Key) -> Files:
        """Return the files of an object as events tell them."""
        return self._told.get(key, NO_FILES)

    def between(self, what: str, event_id: int, tables: Mapping[str, TableState]) -> None:
        """Add a moment within a call, of which only the log tells: the newest one with these tables."""
        state = self.timeline.newest.state
        changed = state.with_tables(dict(state.tables) | tables)
        self.timeline.add(Moment(event_id, changed, what, late=dict(self._late), directories=dict(self._directories)))

    def assert_whole(self) -> None:
        """Assert that reading only what a call concerns has missed nothing."""
        assert self._viewer.state() == self._there

    def _note(
        self,
        what: str,
        append: Append | None,
        whole: frozenset[str] = frozenset(),
        renamed: frozenset[str] = frozenset(),
    ) -> None:
        event_id = self._metastore.current_event_id()
        if not self.timeline.moments or event_id > self.timeline.newest.event_id:
            state, directories = with_files(self._there, self._told), dict(self._directories)
            moment = Moment(event_id, state, what, append, late=dict(self._late), directories=directories)
            moment.whole, moment.renamed = whole, renamed
            self.timeline.add(moment)
        self._note_untold()

    def _note_untold(self) -> None:
        newest = self.timeline.newest
        for key, files in files_of(self._there).items():
            untold, gone = files - self.told(key), self.told(key) - files
            newest.untold |= untold
            newest.gone |= gone
            if (untold or gone) and key in self._directories:
                self._directories[key].untold |= untold
                self._directories[key].gone |= gone


def files_of(state: DatabaseState) -> Told:
    """Return the files of each object."""
    found: Told = {}
    for name, table in state.tables:
        if not table.keys:
            found[name, None] = table.files
        for values, partition in table.partitions:
            found[name, values] = partition.files
    return found


def with_files(state: DatabaseState, files: Mapping[Key, Files]) -> DatabaseState:
    """Return a state with other files."""
    return state.with_tables({name: table_with_files(name, table, files) for name, table in state.tables})


def table_with_files(name: str, table: TableState, files: Mapping[Key, Files]) -> TableState:
    """Return a table with other files."""
    partitions = {values: replace(one, files=files.get((name, values), NO_FILES)) for values, one in table.partitions}
    return replace(table, files=files.get((name, None), NO_FILES)).with_partitions(partitions)
