"""Know which sets the source's users have marked, and judge those that a replica shows.

The rule: while a set shows, its partitions are as the source had them at one moment while the set was marked. So
nobody who finds the mark reads less than was promised, nor what was rewritten after the mark was taken away. Readers of
the source count: files that a writer has put there before the mark belong to the set while they are there, unless a
later event names them: that writer had not come to its end.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from tests.checker.states import NO_FILES, DatabaseState, Files, PartitionState, ShownSet, TableState, Values
from tests.checker.timeline import Key, Moment, Timeline, files_of
from twinhive.core.model.names import partition_values
from twinhive.core.model.objects import Partition
from twinhive.core.model.sets.set_mark import SetMark
from twinhive.core.model.sets.set_spec import WHOLE, SetSpec

Name = tuple[str, str]
"""A set: its table, and how it is written."""


@dataclass
class Lifetime:
    """How long a set was marked: moments by their places in the timeline; `tokens` since when each was the newest."""

    name: Name
    tokens: dict[str | None, int] = field(default_factory=dict)
    end: int | None = None


class MarkedSets:
    """Hold what the source's users have marked, and what was in its directories meanwhile."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._now: dict[Name, Lifetime] = {}
        self._of_token: dict[tuple[Name, str | None], Lifetime] = {}
        self._seen: dict[Key, list[tuple[int, Files]]] = defaultdict(list)

    # What happens at the source.

    def marked(self, partitions: Collection[Partition]) -> None:
        """Note marks; the newest moment is theirs."""
        for mark in map(SetMark.read, partitions):
            name = (mark.table.table, mark.spec)
            lifetime = self._now.setdefault(name, Lifetime(name))
            lifetime.tokens.setdefault(mark.token, self._newest)
            self._of_token[name, mark.token] = lifetime

    def unmarked(self, names: Collection[str]) -> None:
        """Note marks that are gone since the newest moment."""
        for name in names:
            table, spec = partition_values(name)
            if (lifetime := self._now.pop((table, spec), None)) is not None:
                lifetime.end = self._newest

    def look(self, state: DatabaseState, tables: Collection[str]) -> None:
        """Note what is in the directories of some tables."""
        there = {key: files for key, files in files_of(state).items() if key[0] in tables}
        for key in [key for key in self._seen if key[0] in tables and key not in there]:
            there[key] = NO_FILES
        for key, files in there.items():
            if not self._seen[key] or self._seen[key][-1][1] != files:
                self._seen[key].append((self._newest, files))

    def has_been_marked_since(self, one: ShownSet) -> bool:
        """True for a mark that was not taken away since: newer ones may have come on top."""
        name = (one.table, one.spec)
        lifetime = self._of_token.get((name, one.token))
        return lifetime is not None and lifetime is self._now.get(name)

    @property
    def _newest(self) -> int:
        return len(self._timeline.moments) - 1

    # What the replica shows.

    def wrong(self, state: DatabaseState) -> Iterator[str]:
        """Say which sets a replica shows without what they promise."""
        tables = dict(state.tables)
        for one in state.sets:
            name = (one.table, one.spec)
            lifetime = self._of_token.get((name, one.token))
            table = tables.get(one.table)
            if lifetime is None:
                yield f"set {name} is shown, and nobody has marked it with token {one.token}"
            elif table is not None and not self._was_so(lifetime, one, table):
                yield f"set {name}, token {one.token}, is shown: {self._difference(lifetime, one, table)}"

    def _moments(self, lifetime: Lifetime, one: ShownSet) -> range:
        end = self._newest if lifetime.end is None else lifetime.end
        return range(lifetime.tokens[one.token], end + 1)

    def _was_so(self, lifetime: Lifetime, one: ShownSet, table: TableState) -> bool:
        moments = self._moments(lifetime, one)
        return any(self._is_so(index, moments, one, table) for index in moments)

    def _is_so(self, index: int, moments: range, one: ShownSet, ours: TableState) -> bool:
        moment = self._timeline.moments[index]
        theirs = dict(moment.state.tables).get(one.table)
        if theirs is None or theirs.keys != ours.keys:
            return False
        here, there = leaves(ours, one.spec), leaves(theirs, one.spec)
        return here.keys() == there.keys() and all(
            self._has(files, there[values], (one.table, values), index, moments) for values, files in here.items()
        )

    def _has(self, ours: Files, theirs: Files, key: Key, index: int, moments: range) -> bool:
        if any(ours == files for files in self._readers_saw(key, moments)):
            return True
        is_so = (
            ours == theirs
            or self._is_placing(ours, theirs, key, index)
            or self._is_being_replaced(ours, theirs, index)
            or _without_nested(ours, theirs)
            or self._has_untold(ours, theirs, key, index)
        )
        return is_so and not self._untold_before_the_mark(key, index, moments) - theirs - ours

    def _readers_saw(self, key: Key, moments: range) -> Iterator[Files]:
        """Yield what was in a directory while the set was marked."""
        seen = self._seen[key]
        first = max(bisect_right(seen, moments.start - 1, key=lambda one: one[0]) - 1, 0)
        yield from (files for index, files in seen[first:] if index < moments.stop)

    def _untold_before_the_mark(self, key: Key, index: int, moments: range) -> Files:
        """Return the files that readers saw from before the mark to a moment, and that no event names up to now."""
        seen = self._seen[key]
        first, last = (bisect_right(seen, at, key=lambda one: one[0]) for at in (moments.start - 1, index))
        if first == 0:
            return NO_FILES
        there = frozenset.intersection(*(files for _, files in seen[first - 1 : last]))
        table, values = key
        for moment in self._timeline.moments[index:] if there else ():
            told = dict(moment.state.tables).get(table)
            there -= leaves(told, WHOLE).get(values, NO_FILES) if told else NO_FILES
        return there

    def _is_placing(self, ours: Files, theirs: Files, key: Key, index: int) -> bool:
        """True while the files of the next append come, one after the other."""
        following = self._timeline.moments[index + 1 : index + 2]
        append = following[0].append if following else None
        is_next = append is not None and append.key == key and ours <= theirs | append.files
        return is_next and _without_nested(ours & theirs, theirs)

    def _is_being_replaced(self, ours: Files, theirs: Files, index: int) -> bool:
        """True where files are missing that an overwrite under way had taken away: a first copy lists what there is."""
        return ours <= theirs and theirs - ours <= self._timeline.moments[index].gone

    def _has_untold(self, ours: Files, theirs: Files, key: Key, index: int) -> bool:
        """True where a first copy found some of the files that writers had put there without an event, before others.

        Nothing that was promised is missing, nothing is there that readers of the source did not see.
        """
        return theirs <= ours and any(ours <= files for files in self._readers_saw(key, range(index, index + 1)))

    def _difference(self, lifetime: Lifetime, one: ShownSet, table: TableState) -> str:
        moments = self._moments(lifetime, one)
        first: Moment = self._timeline.moments[moments.start]
        last = "now" if lifetime.end is None else str(self._timeline.moments[lifetime.end])
        here = {values: sorted(files) for values, files in leaves(table, one.spec).items()}
        theirs = dict(first.state.tables).get(one.table)
        there = {values: sorted(files) for values, files in leaves(theirs, one.spec).items()} if theirs else None
        return f"it has {here}, and never had so from {first}, when it was marked with {there}, to {last}"


def _without_nested(ours: Files, theirs: Files) -> bool:
    """True where nested files alone are missing, which a later event has replaced before anybody could copy them."""
    return ours <= theirs and all("/" in path for path, _ in theirs - ours)


def leaves(table: TableState, spec: str) -> Mapping[Values | None, Files]:
    """Return the files of what is in a set, by the partitions' values."""
    if not table.keys:
        return {None: table.files}
    chosen = SetSpec.parse(spec, dict.fromkeys(table.keys, "string"))
    partitions: tuple[tuple[Values, PartitionState], ...] = table.partitions
    return {values: one.files for values, one in partitions if chosen.matches(values, table.keys)}
