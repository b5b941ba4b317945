"""Sets that producers say are done."""

from functools import partial

from tests.checker.random_users.present_objects import Looking
from tests.checker.random_users.statement import VALUES, Choice, Statement, alone_within
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.sets.set_mark import FOREVER
from twinhive.publishing.sets.listed_sets import SetsOfDatabase, left_behind, take_away
from twinhive.publishing.sets.marking_sets import MarkSet, UnmarkSet


class Marking:
    """What producers do who say that sets are done; they may say so while others write."""

    def __init__(self, statements: Looking) -> None:
        self._of = statements
        self._crowd, self._users = statements.crowd, statements.users

    def weighted(self) -> list[Choice]:
        """Return what there is to choose from."""
        return [(10, self.mark), (3, self.unmark), (5, self.write_again), (1, self.tidy)]

    def _set(self) -> tuple[TableName, str] | None:
        name = self._of._one(list(self._of.tables))
        if name is None:
            return None
        values = [None, *VALUES] if self._of.tables[name].keys else [None]
        value = self._of.random.choice(values)
        return self._users.name(name), "*" if value is None else partition_name(("p",), value)

    def mark(self) -> Statement | None:
        chosen = self._set()
        if chosen is None:
            return None
        table, spec = chosen
        token = self._crowd.fresh()
        mark = MarkSet(table, spec, token, clock=lambda: 1_000 + int(token))
        return Statement(f"mark {table.table} {spec} with {token}", partial(mark.run, self._users.metastore))

    def unmark(self) -> Statement | None:
        listed = SetsOfDatabase(self._crowd.metastore, self._crowd.database).read()
        mark = self._of._one([one.mark for one in listed])
        if mark is None:
            return None
        unmark = UnmarkSet(mark.table, mark.spec)
        return Statement(f"unmark {mark.table.table} {mark.spec}", partial(unmark.run, self._users.metastore))

    def write_again(self) -> Statement | None:
        """Take a mark away, write what it promised anew, and mark it again, as one does who has found a mistake."""
        chosen = self._of._object()
        if chosen is None:
            return None
        (table, values), token = chosen, self._crowd.fresh()
        spec = "*" if values is None else partition_name(("p",), values)
        files = self._of._contents()

        def write_again() -> None:
            name = self._users.name(table)
            UnmarkSet(name, spec).run(self._users.metastore)
            self._users.overwrite(table, values, files)
            MarkSet(name, spec, token, clock=lambda: 1_000 + int(token)).run(self._users.metastore)

        what = f"overwrite {table} {values} between unmark and mark with {token}"
        return alone_within(what, write_again, table, values)

    def tidy(self) -> Statement | None:
        """Do what the hourly round does for marks of tables that are gone, new or renamed."""

        def tidy() -> None:
            listed = SetsOfDatabase(self._crowd.metastore, self._crowd.database, keep=FOREVER)
            take_away(self._users.metastore, self._crowd.database, left_behind(listed))

        return Statement("tidy sets up", tidy)
