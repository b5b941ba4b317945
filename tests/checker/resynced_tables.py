"""Know which tables a replica resyncs, and what it may show of them until then."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from tests.checker.states import DatabaseState, TableState
from tests.checker.timeline import Directory, Timeline

Differences = Callable[[str, TableState, TableState, int], Iterator[str]]
Asked = Callable[[], Collection[str]]
"""Says which tables are to be resynced by now: a request goes when its table is there."""


class Whole:
    """The tables that wait to be resynced, from the window on that may not apply their events.

    Until they are as the source is at the end of a window they stay as they were seen last, then they are absent, then
    there with some of their partitions. While the replica has not reached that end, who is killed may not have said yet
    that all is there: a window that is planned again may bring them over once more, or leave them as they are.

    The other events of a window may bring the replica to its end first: who is killed then leaves a replica there with
    a request. A window of no events answers it: while a table is asked for (`asked`), it may be built anew.
    """

    def __init__(self, timeline: Timeline, differences: Differences) -> None:
        self._timeline = timeline
        self._differences = differences
        self._since: dict[str, int] = {}
        self._last: dict[str, TableState] = {}
        self._touched: set[str] = set()
        self._listed: list[Directory] = []
        self._end = self._done = self._known = 0
        self._before = 0
        self._has_any = False
        self._plan: object = None
        self._came_at: dict[str, int] = {}

    def start(self, index: int) -> None:
        """Begin with the first moment that was seen: what came before it is there."""
        self._end = self._done = index

    def concerns(self) -> bool:
        """True when a window may bring tables over whole."""
        new = self._timeline.moments[self._known :]
        self._known = len(self._timeline.moments)
        self._has_any |= any(one.whole or any(where.is_moved for where in one.directories.values()) for one in new)
        return self._has_any or bool(self._since)

    def begin(self, begin: int, end: int, plan: object = None, asked: Asked = lambda: ()) -> None:
        """Note the tables that a window of the events after `begin`, up to `end`, resyncs."""
        index = self._timeline.index_at(end)
        if index != self._end or plan != self._plan:
            if index != self._end:
                # One run may cut the next window while another one ends this.
                self._before, self._end = self._end, index
            self._plan = plan
            reached = self._timeline.index_at(begin)
            wanted = asked() if self._came_at else ()
            again = {name: at for name, at in self._came_at.items() if at > reached or name in wanted}
            self._since = again | self._since
            self._came_at.clear()
        first = min(self._done, self._timeline.index_at(begin)) + 1
        moments = list(enumerate(self._timeline.moments))[first : self._end + 1]
        if self._end > self._done:
            new = [(number, moment) for number, moment in moments if number > self._done]
            found = {table: number for number, moment in new for table in moment.whole}
            for number, moment in new:
                for (table, _), directory in moment.directories.items():
                    # Nobody could tell what the new place had held.
                    if directory.is_moved and (directory.is_passed or directory.is_left or directory.gone):
                        found.setdefault(table, number)
            self._since |= found
            self._done = self._end
        tables = set(self._since)
        while more := {name for _, one in moments if one.renamed & tables for name in one.renamed} - tables:
            tables |= more
        self._since = dict.fromkeys(tables, self._end) | self._since

    def excuses(self, name: str, ours: TableState | None) -> bool:
        """True for a table that waits, or that is on its way, and shows what such a one may show."""
        if name not in self._since:
            return False
        if ours is None or ours == self._last.get(name):
            return True
        ends = (self._end, self._before) if self._since[name] <= self._before else (self._end,)
        return any(self._is_part_of(name, ours, end) for end in ends)

    def seen(self, state: DatabaseState, index: int) -> None:
        """Note what was seen; a table that has changed, and is as it is at the end of the window, waits no more."""
        now = dict(state.tables)
        for at in (self._before, max(index, self._end)):
            self._note_done(now, at)
        self._last = now

    def _note_done(self, now: dict[str, TableState], at: int) -> None:
        theirs = dict(self._timeline.moments[at].state.tables)
        for name, since in list(self._since.items()):
            ours = now.get(name)
            if ours != self._last.get(name):
                self._touched.add(name)
            if name not in self._touched or since > at or (ours is None) != (name not in theirs):
                continue
            if ours is None and self._last.get(name) is None:
                continue  # dropped by one who was killed before it came: that the source has none now says nothing
            if self._is_on_its_way(name, ours, at):
                continue
            if ours is None or self._is(name, ours, theirs[name], at):
                self._listed += self._directories(name, at)
                self._touched.remove(name)
                del self._since[name]
                self._came_at[name] = at

    def _is_on_its_way(self, name: str, ours: TableState | None, at: int) -> bool:
        """True for what looks like an earlier window's end, and may be a part of what the one after it brings."""
        if at >= self._end or name not in dict(self._timeline.moments[self._end].state.tables):
            return False
        return ours is None or self._is_part_of(name, ours, self._end)

    def has_listed(self, directory: Directory) -> bool:
        """True for a directory that was listed when its table was resynced."""
        return any(directory is one for one in self._listed)

    def _directories(self, name: str, index: int) -> list[Directory]:
        directories = self._timeline.moments[index].directories
        return [directory for (table, _), directory in directories.items() if table == name]

    def _is_part_of(self, name: str, ours: TableState, index: int) -> bool:
        """True for a table that has some of the partitions and constraints that it will have."""
        theirs = dict(self._timeline.moments[index].state.tables).get(name)
        if theirs is None:
            return False
        there = dict(ours.partitions)
        some = {values: one for values, one in theirs.partitions if values in there}
        constraints = tuple(one for one in theirs.constraints if one in ours.constraints)
        return self._is(name, ours, replace(theirs, constraints=constraints).with_partitions(some), index)

    def _is(self, name: str, ours: TableState, theirs: TableState, index: int) -> bool:
        """True for equal tables, where ours was listed just now."""
        before = len(self._listed)
        self._listed += self._directories(name, index)
        equal = not any(self._differences(name, ours, theirs, index))
        del self._listed[before:]
        return equal
