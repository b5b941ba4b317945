"""Random histories of failovers and failbacks: each primary is what its users have made of the one before.

In memory by tests/unit/operations/failover/test_switch_histories.py; between two real clusters by

    python -m tests.checker.cluster_failovers HISTORIES [FIRST SEED]

No row that its writer was told of is lost by a planned failover; an unplanned one loses what the old primary has logged
after the event that was named, which the next failback keeps.
"""

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import Killed, KillSwitch, killable
from twinhive.core.model.errors import ActNow, TryAgain, TwinhiveError
from twinhive.core.model.failover.fence import FENCED, QUOTA, FenceRules
from twinhive.core.model.files import base_name, is_hidden
from twinhive.core.model.names import TableName, partition_name
from twinhive.core.model.objects import Partition, Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.sets.set_mark import FOREVER, SETS_TABLE
from twinhive.core.model.sets.set_spec import SetSpec
from twinhive.core.ports import FileReader, MetastoreReader, WritePorts
from twinhive.core.step.step_base import Work
from twinhive.operations.actions.pause import Unpause
from twinhive.operations.actions.unlock import Unlock
from twinhive.operations.failover.failback import Failback
from twinhive.operations.failover.failover import Failover
from twinhive.operations.failover.fence.fence_removal import AbortFailover
from twinhive.operations.failover.unplanned_failover import UnplannedFailover
from twinhive.publishing.sets.listed_sets import SetsOfDatabase, SetStanding
from twinhive.publishing.sets.marking_sets import MarkSet, UnmarkSet
from twinhive.replication.verify.verify import Verify
from twinhive.runtime.pipeline.phases import INCREMENTAL
from twinhive.runtime.pipeline.runner import run_phase

HOLDER = {"run": "terminal-1", "task": "failback", "by": "ann"}
VALUES = [("1",), ("a b/c:ü",), ("%2F",)]


class Users:
    """Do something at random where the primary is; what cannot be done now is left."""

    def __init__(self, chance: random.Random) -> None:
        self.chance, self.count = chance, 0

    def act(self, users: SourceWriter) -> None:
        self.count += 1
        with suppress(TwinhiveError, KeyError, IndexError, ValueError, AssertionError):
            self.chance.choice(self._acts(users))()

    def add_rows(self, users: SourceWriter) -> None:
        """Add rows of which nobody has any yet: what returns is acknowledged, and must not be lost."""
        self.count += 1
        table, values = self.chance.choice(("orders", "plain")), self.chance.choice(VALUES)
        content = {f"f{self.count}": b"x" * self.count}
        with suppress(TwinhiveError, KeyError, IndexError, ValueError, AssertionError):
            users.insert(table, values if table == "orders" else None, content)

    def _acts(self, users: SourceWriter) -> list[Callable[[], object]]:
        table, values = self.chance.choice(("orders", "plain", "later")), self.chance.choice(VALUES)
        content, here = {f"f{self.count}": b"x" * self.count}, values if table == "orders" else None
        return [
            lambda: self._is_new(users, "later") and users.create_table("later", files=content),
            lambda: self._is_new(users, "orders", values) and users.add_partitions("orders", {values: content}),
            lambda: users.insert(table, here, content),
            lambda: users.overwrite(table, here, content),
            lambda: users.alter_partitions("orders", [values], {"x": str(self.count)}),
            lambda: users.rename_partition("orders", values, self.chance.choice(VALUES)),
            lambda: users.drop_partitions("orders", [values]),
            lambda: users.drop_table("later"),
            lambda: users.rename_table("later", "plain"),
            lambda: users.truncate(table, None if here is None else [here]),
            lambda: users.alter_database_parameters({"x": str(self.count)}),
            *self._marks(users, TableName(users.database, table), here),
        ]

    def _marks(
        self, users: SourceWriter, table: TableName, values: tuple[str, ...] | None
    ) -> list[Callable[[], object]]:
        spec = str(SetSpec((("p", values[0]),) if values else ()))
        marking = MarkSet(table, spec, str(self.count))
        return [lambda: marking.run(users.metastore)] * 2 + [lambda: UnmarkSet(table, spec).run(users.metastore)]

    def _is_new(self, users: SourceWriter, table: str, values: tuple[str, ...] | None = None) -> bool:
        """Tell whether it can be made: what is refused must leave no files, of which no event would tell."""
        if values is None:
            return users.metastore.table(users.name(table)) is None
        return partition_name(("p",), values) not in users.metastore.partition_names(users.name(table))


class WritersMeanwhile(KillSwitch):
    """Let users write rows before changes of a failover, which is killed now and then."""

    def __init__(self, sides: "Sides") -> None:
        super().__init__(sides.chance.choice((4, 12, 25, 10_000)), after_effect=sides.chance.random() < 0.5)
        self.sides = sides

    def change(self, effect: Callable[[], Any]) -> Any:
        if self.sides.chance.random() < 0.3:
            self.sides.users.add_rows(self.sides.primary)
        return super().change(effect)


def rows(metastore: MetastoreReader, files: FileReader, database: str) -> set[bytes]:
    """Return the contents of all files of a database's tables, but of empty ones: they hold no rows."""
    found = set()
    for table in metastore.tables(database, metastore.table_names(database)):
        parts = metastore.partitions(table.name, metastore.partition_names(table.name)) if table.partition_keys else []
        places = [one.location for one in parts] if table.partition_keys else [table.location]
        for _, children in files.list_directories([place for place in places if place]):
            found |= {files.read(one.path) for one in children or () if not one.is_directory and one.length}
    return found


Held = dict[str, Any]
Way = tuple[Policy, Callable[[], WritePorts]]
"""A policy, and the ports of it."""


def held(metastore: MetastoreReader, files: FileReader, database: str) -> Held:
    """Return what readers see of a database: columns, what users have said of tables and partitions, bytes of files."""

    def said(thing: Table | Partition) -> dict[str, str]:
        return {key: value for key, value in thing.parameters.items() if key == "x"}

    def content(place: str | None) -> dict[str, bytes]:
        if not place:
            return {}
        listed = (one for _, page in files.list_directories([place]) for one in page or () if not one.is_directory)
        return {base_name(one.path): files.read(one.path) for one in listed if not is_hidden(base_name(one.path))}

    found: Held = {}
    for table in metastore.tables(database, metastore.table_names(database)):
        if table.is_external or table.name.table == SETS_TABLE:
            continue
        parts = metastore.partitions(table.name, metastore.partition_names(table.name)) if table.partition_keys else []
        found[table.name.table] = (
            table.columns,
            said(table),
            {one.values: (said(one), content(one.location)) for one in parts},
            {} if table.partition_keys else content(table.location),
        )
    return found | {SETS_TABLE: sets_found(metastore, database)}


def sets_found(metastore: MetastoreReader, database: str) -> dict[tuple[str, str], str | None]:
    """Return the sets that those who wait find, with their tokens."""
    listed = SetsOfDatabase(metastore, database, keep=FOREVER).read()
    return {(one.mark.table.table, one.mark.spec): one.mark.token for one in listed if one.standing is SetStanding.DONE}


class Sides:
    """Which of the two is the primary, and which policy leads away from it.

    ways   the policy from east into west, and that of the opposite direction, with their ports
    writers   the users of each, in that order
    """

    def __init__(
        self, chance: random.Random, ways: tuple[Way, Way], writers: tuple[SourceWriter, SourceWriter]
    ) -> None:
        self.chance, self.users, self.writers = chance, Users(chance), writers
        self.lost: set[bytes] = set()
        """Rows that an unplanned failover has left behind."""
        # West has taken over: the reverse policy leads away from the primary.
        self.other, self.away = ways
        self._back = ways[1][0]
        self.switches: Counter[str] = Counter()

    @property
    def primary(self) -> SourceWriter:
        return self.writers[1] if self.away[0] is self._back else self.writers[0]

    @property
    def database(self) -> str:
        return self.away[0].source.database

    def round(self) -> None:
        """Fail back, so that the other side follows, and let it take over."""
        self.write()
        self.fail_back()
        self.fail_over()

    def go_on(self) -> None:
        """Let the policy go on; follow to the end, and prove both sides equal."""
        policy, ports = self.away
        Unpause(policy).run(ports())
        self.follow()
        found = Verify(Work(policy, holder=HOLDER), deep=True, wait=lambda seconds: None).run(ports())
        assert found.is_equal, found.lines()

    def write(self) -> None:
        for _ in range(self.chance.randrange(6)):
            self.users.act(self.primary)

    def killed_first(self, run: Callable[[WritePorts], Any]) -> Any:
        """Do it, now and then after tries that were killed."""
        policy, ports = self.away
        while self.chance.random() < 0.5:
            switch = KillSwitch(self.chance.randrange(1, 25), after_effect=self.chance.random() < 0.5)
            try:
                return run(killable(ports(), switch))
            except Killed:
                self.switches["kills"] += 1
                Unlock(policy, HOLDER).run(ports())
        return run(ports())

    def follow(self) -> None:
        policy, ports = self.away
        while not run_phase(INCREMENTAL, policy, ports(), {"run": "i"}, lambda line: None)["window"].idle:
            pass

    def fail_back(self) -> None:
        policy, ports = self.away
        self.killed_first(Failback(policy, HOLDER).run)
        old = ports()
        kept = {
            row
            for name in old.replica.database_names()
            if "__diverged_" in name
            for row in rows(old.replica, old.replica_files, name)
        }
        assert self.lost <= kept
        self.lost = set()
        self.write()
        self.go_on()
        primary, other = self.held()
        assert primary == other
        self.switches["failbacks"] += 1

    def fail_over(self) -> None:
        """Let the other side take over, with all that the primary held when it was followed last."""
        policy, ports = self.away
        self.write()
        self.follow()
        before = self.held()[0]
        if self.chance.random() < 0.3:
            self.switches["planned, with writers at the fence"] += 1
            before = self._fenced()
        elif self.chance.random() < 0.5:
            self.switches["planned"] += 1
            self.killed_first(Failover(policy, HOLDER, wait=lambda seconds: None).run)
        else:
            self.switches["unplanned"] += 1
            self.write()
            said = ports().replica.database(self.database)
            at = int(said.parameters["repl.last.id"]) if said else 0
            self.killed_first(UnplannedFailover(policy, at, "gone", HOLDER).run)
        assert self.held()[1] == before
        old = ports()
        self.lost = rows(old.source, old.source_files, self.database) - rows(
            old.replica, old.replica_files, self.database
        )
        self.away, self.other = self.other, self.away

    def _fenced(self) -> Any:
        """Fail over while users write on, whom the fence stops; return what the old primary held in the end."""
        policy, ports = replace(self.away[0], fence=FenceRules((QUOTA,))), self.away[1]
        for _ in range(50):
            operation = Failover(policy, HOLDER, wait=lambda seconds: None, catch_up=lambda since: self.follow())
            try:
                operation.run(killable(ports(), WritersMeanwhile(self)))
                break
            except Killed:
                Unlock(policy, HOLDER).run(ports())
            except (ActNow, TryAgain):
                if self.chance.random() < 0.5:
                    self.killed_first(AbortFailover(policy, HOLDER).run)
                    said = ports().source.database(self.database)
                    assert said is not None and FENCED not in said.parameters
                    self.users.add_rows(self.primary)
        else:
            raise AssertionError("users were never stopped")
        return self.held()[0]

    def held(self) -> tuple[Any, Any]:
        """Return what the primary holds, and what the other side does."""
        ports = self.away[1]()
        return (
            held(ports.source, ports.source_files, self.database),
            held(ports.replica, ports.replica_files, self.database),
        )
