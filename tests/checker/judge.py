"""Judge states of a replica: each must be one that its source has had, none may come after a later one.

The exceptions, and no others:

* while the files of an append are placed, some of that one event's files are on that one object already;
* a bootstrap lists files that a writer has put there without an event; readers of the source saw them as
  well. They stay until an event tells of them, and so does what an overwrite had removed by then;
* the columns of a partition follow a change of its table's columns (CASCADE) late: no event tells of them;
* a table of which an event does not tell all (it came from another database, or got another location), and those that
  renames of the same window link to it, stay as they are until they are brought over as they are at the end of a
  window that reaches the newest event; then there is no table, then the new one, then its constraints and partitions;
* a partition with another location has the files that lay there when the window was cut, among them what writers had
  put there or taken away without an event; one whose content a later event has replaced by then keeps its rows until
  that event, or its table comes whole. The replica's metastore, which counts the files of a renamed partition, counts
  what is there, and keeps that until the source tells other numbers;
* files in nested directories are missing where a later event has replaced or removed them before the window was cut;
  they are not counted in a partition that is renamed meanwhile either;
* what a listing has found in the directory of such a table or partition stays until an event tells of it;
* a foreign key is missing for good that the replica has never had, to a table that had no key when it was to come.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tests.checker.resynced_tables import Asked, Whole
from tests.checker.set_judge import MarkedSets
from tests.checker.states import COUNTED, NO_FILES, DatabaseState, Files, Pairs, PartitionState, TableState, Values
from tests.checker.timeline import Directory, Timeline, files_of

FILE_COUNTS = ("numFiles", "totalSize")
Counts = tuple[Values, Pairs, Pairs]
"""What a replica counts in a partition with these values, and what its source does."""


@dataclass(frozen=True)
class Violation:
    """What the replica showed and may not."""

    position: int
    what: str
    when: str = ""

    def __str__(self) -> str:
        return f"at position {self.position}{', after ' + self.when if self.when else ''}: {self.what}"


class Judge:
    """Follow one replica along the timeline of its source.

    `window` says which events are in the window that is applied at a position: after one, up to another one. `plan`
    tells a window from one that is planned again, of the same events. `asked` says which tables are to come whole.
    """

    def __init__(self, timeline: Timeline, listed: tuple[Files, Files] | None = None) -> None:
        self._timeline = timeline
        self.window: Callable[[int], tuple[int, int]] = lambda position: (position, position)
        self.plan: Callable[[int], object] = lambda position: None
        self.asked: Asked = lambda: ()
        self.sets: MarkedSets | None = None
        self.whole = Whole(timeline, self._differences_of)
        self._index = 0
        self._position = -1
        self._listed = listed
        self.violations: list[Violation] = []
        self.compared = 0
        self._counts: set[Counts] = set()
        self._counts_seen: set[Counts] = set()
        self._had: set[str] = set()
        self._left_out: set[str] = set()
        self._left_out_seen: set[str] = set()

    def see(self, position: int, state: DatabaseState, when: str = "") -> None:
        """Judge one state; `when` says for people after which call it was."""
        self.compared += 1
        if position < self._position:
            self._violated(position, f"the position went back from {self._position}", when)
        self._position = max(position, self._position)
        start = max(self._index, self._timeline.index_at(position))
        if self._listed is None:
            self._listed = self._untold(start, state)
            self.whole.start(start)
        self.expect(position)
        if not self._goes_on(start, state):
            self._violated(position, self._difference(start, state), when)
        for wrong in self.sets.wrong(state) if self.sets is not None else ():
            self._violated(position, wrong, when)
        self.whole.seen(state, self._index)
        self._had |= {one.split()[1] for _, table in state.tables for one in table.constraints}

    def expect(self, position: int) -> None:
        """Note what the window of a position resyncs.

        A shorter one may be planned in its place before anybody sees a state of it. What it has frozen stays frozen.
        """
        if self._listed is not None and self.whole.concerns():
            self.whole.begin(*self.window(position), self.plan(position), self.asked)

    def _goes_on(self, start: int, state: DatabaseState) -> bool:
        for index in range(start, len(self._timeline.moments)):
            if self._explains(index, state):
                self._index = index
                self._counts |= self._counts_seen
                self._left_out |= self._left_out_seen
                return True
        return False

    def differences_at_the_end(self, state: DatabaseState) -> list[str]:
        """Return how a replica that has caught up differs from its source, where nothing is late any more."""
        newest = len(self._timeline.moments) - 1
        moment = self._timeline.moments[newest]
        listed = {key: replace(one, is_moved=True) for key, one in moment.directories.items() if self._was_listed(one)}
        exact = replace(moment, late={}, directories=listed)
        last = Judge(Timeline([exact]), self._listed)
        last._had, last._left_out = self._had, self._left_out
        return list(last._differences(0, state))

    def _was_listed(self, directory: Directory) -> bool:
        """True where the replica has what lay there when it was brought over: no event tells of it since."""
        return directory.is_moved or self.whole.has_listed(directory)

    def _untold(self, index: int, state: DatabaseState) -> tuple[Files, Files]:
        """Return what a first state may show, or lack, because of writers that had not told it yet."""
        moment = self._timeline.moments[index]
        there, told = files_of(state), files_of(moment.state)
        more = {pair for key, files in there.items() for pair in files - told.get(key, frozenset())}
        fewer = {pair for key, files in told.items() for pair in files - there.get(key, frozenset())}
        return frozenset(more & moment.untold), frozenset(fewer & moment.gone)

    def _explains(self, index: int, state: DatabaseState) -> bool:
        moment = self._timeline.moments[index]
        if state == moment.state:
            return True
        self._counts_seen, self._left_out_seen = set(), set()
        return not any(self._differences(index, state))

    def _differences(self, index: int, state: DatabaseState) -> Iterator[str]:
        moment = self._timeline.moments[index]
        if state.parameters != moment.state.parameters:
            yield f"database parameters are {dict(state.parameters)}, not {dict(moment.state.parameters)}"
        if state.functions != moment.state.functions:
            yield f"functions are {dict(state.functions)}, not {dict(moment.state.functions)}"
        ours, theirs = dict(state.tables), dict(moment.state.tables)
        for name in sorted(ours.keys() | theirs.keys()):
            if self.whole.excuses(name, ours.get(name)):
                continue
            if name not in ours or name not in theirs:
                yield f"table {name} is {'missing' if name in theirs else 'there'}"
            elif ours[name] != theirs[name]:
                yield from self._differences_of(name, ours[name], theirs[name], index)

    def _differences_of(self, name: str, ours: TableState, theirs: TableState, index: int) -> Iterator[str]:
        theirs = replace(theirs, constraints=tuple(self._constraints_that_came(ours, theirs, index)))
        for field in ("kind", "keys", "columns", "parameters", "rest", "constraints"):
            if not _same(field, ours, theirs, is_listed=self._has_listed((name, None), ours, theirs, index)):
                yield f"{field} of {name}: {getattr(ours, field)}, not {getattr(theirs, field)}"
        yield from _claims_differ(name, ours.claims, theirs.claims)
        yield from self._files_differ((name, None), ours.files, theirs.files, index)
        here, there = dict(ours.partitions), dict(theirs.partitions)
        for values in sorted(here.keys() | there.keys()):
            if values not in here or values not in there:
                yield f"partition {values} of {name} is {'missing' if values in there else 'there'}"
            else:
                yield from self._partition_differs(name, values, here[values], there[values], index)

    def _constraints_that_came(self, ours: TableState, theirs: TableState, index: int) -> Iterator[str]:
        """Leave out foreign keys that no metastore takes: at the source a key may go to which others refer."""
        tables = dict(self._timeline.moments[index].state.tables)
        for one in theirs.constraints:
            kind, name, *_, parent = one.split()
            is_refused = kind == "foreign_key" and name not in self._had and not _has_key(tables.get(parent))
            if one not in ours.constraints and (is_refused or name in self._left_out):
                self._left_out_seen.add(name)
            else:
                yield one

    def _partition_differs(
        self, name: str, values: Values, ours: PartitionState, theirs: PartitionState, index: int
    ) -> Iterator[str]:
        is_listed = self._has_listed((name, values), ours, theirs, index)
        theirs = replace(theirs, parameters=self._counted((name, values), ours, theirs, index))
        for field in ("parameters", "rest"):
            if not _same(field, ours, theirs, is_listed=is_listed):
                yield f"{field} of {name} {values}: {getattr(ours, field)}, not {getattr(theirs, field)}"
        if ours.columns != theirs.columns and not self._follows_late(name, values, ours, index):
            yield f"columns of {name} {values}: {ours.columns}, not {theirs.columns}"
        yield from _claims_differ(f"{name} {values}", ours.claims, theirs.claims)
        yield from self._files_differ((name, values), ours.files, theirs.files, index)

    def _counted(self, key: tuple[str, Values], ours: PartitionState, theirs: PartitionState, index: int) -> Pairs:
        """Return the source's parameters, with our count of a partition that has or had other files than its source."""
        here, there = _counts_of(ours), _counts_of(theirs)
        counts: Counts = (key[1], here, there)
        has_others = self._has_listed(key, ours, theirs, index) or self._counts_what_is_there(key, ours, theirs, index)
        if counts not in self._counts and not has_others:
            return theirs.parameters
        self._counts_seen.add(counts)
        left = {name: value for name, value in theirs.parameters if name not in FILE_COUNTS}
        return tuple(sorted({**left, **dict(here)}.items()))

    def _counts_what_is_there(
        self, key: tuple[str, Values], ours: PartitionState, theirs: PartitionState, index: int
    ) -> bool:
        """True where nested files may be missing, all others are there, and we count them alone."""
        directory = self._timeline.moments[index].directories.get(key)
        missing = theirs.files - ours.files
        if directory is None or not missing or self._without_listed(directory, NO_FILES, missing)[1]:
            return False
        here, there = dict(ours.parameters), dict(theirs.parameters)
        is_shorter = int(here.get("totalSize", "0")) < int(there.get("totalSize", "0"))
        return is_shorter and here.get("numFiles", "0") == str(len(ours.files))

    def _has_listed(
        self,
        key: tuple[str, Values | None],
        ours: TableState | PartitionState,
        theirs: TableState | PartitionState,
        index: int,
    ) -> bool:
        """True for an object that has other files than events tell, as a listing has found them."""
        directory = self._timeline.moments[index].directories.get(key)
        return ours.files != theirs.files and directory is not None and self._was_listed(directory)

    def _follows_late(self, name: str, values: Values, ours: PartitionState, index: int) -> bool:
        return ours.columns in self._timeline.moments[index].late.get((name, values), ())

    def _files_differ(self, key: tuple[str, Values | None], ours: Files, theirs: Files, index: int) -> Iterator[str]:
        more, fewer = self._listed or (frozenset(), frozenset())
        added, lost = (ours - theirs) - more, (theirs - ours) - fewer
        placing = self._placing_next(index)
        if placing is not None and placing[0] == key:
            added -= placing[1]
        directory = self._timeline.moments[index].directories.get(key)
        if directory is not None and (added or lost):
            if directory.is_passed and directory.is_moved and not directory.is_appended and ours == directory.before:
                return
            added, lost = self._without_listed(directory, added, lost)
        if added or lost:
            yield f"files of {key}: {sorted(added)} too many, {sorted(lost)} missing"

    def _without_listed(self, directory: Directory, added: Files, lost: Files) -> tuple[Files, Files]:
        """Leave out what a listing of a directory finds, or does not, though no event says so."""
        if self._was_listed(directory):
            return added - directory.untold, lost - directory.gone
        return added, lost - (directory.nested if directory.is_passed else directory.nested & directory.gone)

    def _placing_next(self, index: int) -> tuple[tuple[str, Values | None], Files] | None:
        moments = self._timeline.moments
        following = moments[index + 1].append if index + 1 < len(moments) else None
        return (following.key, following.files) if following else None

    def _difference(self, start: int, state: DatabaseState) -> str:
        """Say how a state differs from the moment that it is most like, and whether it is an earlier one."""
        moments = self._timeline.moments
        for index in reversed(range(start)):
            if self._explains(index, state):
                return f"the state went back to {moments[index]}; it was at {moments[start]} or later"
        differences = {index: list(self._differences(index, state)) for index in range(start, len(moments))}
        nearest = min(differences, key=lambda index: len(differences[index]))
        return f"not a state of the source; nearest is {moments[nearest]}: {'; '.join(differences[nearest])}"

    def _violated(self, position: int, what: str, when: str) -> None:
        self.violations.append(Violation(position, what, when))


def _has_key(table: TableState | None) -> bool:
    return table is not None and any(one.startswith(("primary_key ", "unique ")) for one in table.constraints)


def _counts_of(partition: PartitionState) -> Pairs:
    return tuple((key, value) for key, value in partition.parameters if key in FILE_COUNTS)


def _claims_differ(what: str, ours: frozenset[str], theirs: frozenset[str]) -> Iterator[str]:
    """Find statistics that the replica takes for accurate, and the source does not: queries answered wrongly."""
    if ours - theirs:
        yield f"statistics of {what} are claimed accurate: {sorted(ours - theirs)}"


def _same(field: str, ours: Any, theirs: Any, *, is_listed: bool) -> bool:
    """True for equal fields. Where the source has no counts of files, the replica's metastore makes its own.

    It may also count those that a listing has found.
    """
    here, there = getattr(ours, field), getattr(theirs, field)
    if field != "parameters" or here == there:
        return bool(here == there)
    if is_listed:
        return [pair for pair in here if pair[0] not in COUNTED] == [pair for pair in there if pair[0] not in COUNTED]
    return {key: value for key, value in here if key not in COUNTED or key in dict(there)} == dict(there)
