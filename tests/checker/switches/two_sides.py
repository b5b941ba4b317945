"""Be two clusters with a policy in each direction, the users of both, and what else a history needs to hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.checker.switches.acknowledged_rows import Row, visible
from tests.checker.switches.features import Feature
from tests.checker.switches.foreign_things import EXCLUDED, ForeignThings
from tests.checker.switches.machine_clocks import MachineClock, Time, a_name_node, a_worker
from tests.support.builders import a_policy, an_external
from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hdfs.fake_lease import InMemoryLease
from tests.support.hive.fake_metastore import InMemoryMetastore
from tests.support.users.external_writer import ExternalWriter
from tests.support.worlds.fake_world import REPLICA_ADDRESS, SOURCE_ADDRESS, World, a_world
from tests.unit.operations.failover.test_readiness import READY
from twinhive.core.model.errors import ActNow, TryAgain
from twinhive.core.model.external.modes import External
from twinhive.core.model.failover.fence import COMMAND, QUOTA, FenceRules
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import WINDOW_END, DatabaseAddress, Options, Policy
from twinhive.core.ports import TreePorts, WritePorts
from twinhive.hive.adapters.hive.hive_source_marker import MetastoreMarker
from twinhive.runtime.pipeline.runner import run_bootstrap

DATABASE = "sales"
GRACE = 100
HOLDER = {"run": "terminal-1", "task": "switch", "by": "ann"}
RETURNED = External(
    base_directory="hdfs://east/", source_root="hdfs://west", returns_from="hdfs://west/ext", trash_days=1.0
)


class Hook:
    """Stand for the commands of the operator's own at one side; `shut` is what they have done to the writers."""

    def __init__(self, chance: Random, *, fails: bool) -> None:
        self.chance, self.fails, self.shut = chance, fails, False

    def __call__(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        """Do it, now and then in part."""
        fails_before, fails_after = ((self.fails and self.chance.random() < 0.25) for _ in range(2))
        if fails_before:
            raise TryAgain("the command failed", found="75: nothing done", expected="0", next_step="again")
        self.shut = list(words) == ["true", "shut"]
        if fails_after:
            raise ActNow("the command failed", found="1: half done", expected="0", next_step="mend it")


@dataclass
class Side:
    """One cluster."""

    name: str
    metastore: InMemoryMetastore
    files: InMemoryFiles
    users: ExternalWriter
    hook: Hook
    foreign: ForeignThings | None = None

    def rows(self, database: str | None = None, *, but: str = "") -> set[Row]:
        """Return the rows that readers find there, but for those of tables that no policy replicates, and of one."""
        without = self.foreign.names if self.foreign else set()
        return visible(self.metastore, self.files, database, without | {TableName(DATABASE, but)})

    def parameters(self) -> dict[str, str]:
        """Return what the replicated database says."""
        found = self.metastore._databases.get(DATABASE)
        return dict(found.parameters) if found else {}


@dataclass(frozen=True)
class Way:
    """A policy from one side into the other."""

    policy: Policy
    source: Side
    replica: Side
    lease: InMemoryLease

    def ports(self) -> WritePorts:
        """Return fresh ports."""
        source, replica = self.source, self.replica
        return WritePorts(
            source=source.metastore,
            replica=replica.metastore,
            source_files=source.files,
            replica_files=replica.files,
            dump_files=source.files,
            lease=self.lease,
            source_marker=MetastoreMarker(source.metastore),
            trees=TreePorts(source.files, replica.files, self.lease, source.files),
        )


class TwoSides:
    """East is replicated into west, in which others have tables of their own; west has not taken over yet."""

    def __init__(self, features: frozenset[Feature], chance: Random) -> None:
        self.features, self.chance = features, chance
        self.time = Time()
        world = self.world = a_world()
        self._set_up(world)
        fails = Feature.HOOKS in features
        self.east, self.west = (
            Side(name, metastore, files, ExternalWriter(metastore, files, DATABASE), Hook(chance, fails=fails))
            for name, metastore, files in (
                ("east", world.source, world.source_files),
                ("west", world.replica, world.replica_files),
            )
        )
        there, back = self._policies()
        self.there = Way(there, self.east, self.west, world.lease)
        self.back = Way(back, self.west, self.east, InMemoryLease())
        if Feature.FOREIGN in features:
            self.east.foreign = self._foreign(self.east)
        self.east.users.create_table("still", files={"first": b"still"})
        self.north: Way | None = self._north() if Feature.HUB in features else None
        self._load()
        if Feature.FOREIGN in features:
            self.west.foreign = self._foreign(self.west)

    @property
    def sides(self) -> tuple[Side, Side]:
        """Return both."""
        return self.east, self.west

    def passes(self, seconds: int) -> None:
        """Let nothing happen for a while, anywhere."""
        self.time.passes(seconds)
        for side in self.sides:
            side.metastore.pass_time(seconds)

    def worker(self) -> MachineClock:
        """Return the clock of whichever machine runs the next task."""
        return a_worker(self.time, self.chance, differs=Feature.CLOCKS in self.features)

    def _set_up(self, world: World) -> None:
        common = {"metastore.repl.cmrootdir": "/cmroot"}
        world.replica.configurations[REPLICA_ADDRESS] |= READY | common
        home = {"metastore.warehouse.dir": "hdfs://east/warehouse/managed"}
        world.source.configurations[SOURCE_ADDRESS] |= READY | home
        for files in (world.source_files, world.replica_files):
            clock: Any = a_name_node(self.time, self.chance, differs=Feature.CLOCKS in self.features)
            files._tree._times = clock
        world.source_files.make_directories("hdfs://east/outside")

    def _policies(self) -> tuple[Policy, Policy]:
        chance, features = self.chance, self.features
        consistency = {"consistency": WINDOW_END} if Feature.HALF in features and chance.random() < 0.5 else {}
        options = Options(
            copy_threads=2,
            settle_seconds=0,
            grace_seconds=GRACE,
            partitions_per_call=chance.choice((1, 2, 100)),
            **consistency,
        )
        common = {"exclude": (EXCLUDED,), "options": options}
        # What a NameNode bars nobody from is fenced there only; a command needs no rights at HDFS.
        rungs = chance.choice(((QUOTA,), (COMMAND,), (QUOTA, COMMAND)))
        self.fence = FenceRules(rungs, ("true", "shut"), ("true", "open")) if COMMAND in rungs else FenceRules(rungs)
        there = a_policy(**common, external=an_external() if Feature.EXTERNAL in features else _left_out("east"))
        back = a_policy(
            **common,
            name="sales_back",
            source=DatabaseAddress("west", DATABASE),
            replica=DatabaseAddress("east", DATABASE),
            dump_root="hdfs://west/twinhive/back/dumps",
            staging_root="hdfs://east/twinhive/back/staging",
            external=RETURNED if Feature.EXTERNAL in features else _left_out("west"),
        )
        return there, back

    def _foreign(self, side: Side) -> ForeignThings:
        # What is external is out of scope where no policy replicates it.
        has_external = Feature.EXTERNAL not in self.features
        return ForeignThings(side.metastore, side.files, DATABASE, self.chance, has_external=has_external)

    def _load(self) -> None:
        first = replace(self.there.policy, external=replace(self.there.policy.external, included=False))
        run_bootstrap(first, self.there.ports(), {"run": "b"}, lambda line: None)
        if Feature.EXTERNAL in self.features:
            east = self.east.users
            east.create_external("logs")
            east.create_external("days", ("p",))
            east.add_external("days", ("1",), ("2",))
            for place in ("data/logs/a", "data/days/p=1/b", "data/days/p=2/c", "outside/d"):
                east.files.write(f"hdfs://east/{place}", place.encode())

    def _north(self) -> Way:
        """Let a third cluster replicate the same source."""
        address, files = "north-metastore:9083", InMemoryFiles("hdfs://north")
        metastore = InMemoryMetastore(file_system="hdfs://north", log_id="log-north", addresses=[address], files=files)
        home = {"metastore.warehouse.dir": "hdfs://north/warehouse/managed", "metastore.repl.cmrootdir": "/cmroot"}
        metastore.configurations[address] |= READY | home
        hook = Hook(self.chance, fails=False)
        side = Side("north", metastore, files, ExternalWriter(metastore, files, DATABASE), hook)
        policy = a_policy(
            name="sales_n",
            exclude=(EXCLUDED,),
            replica=DatabaseAddress("north", DATABASE),
            dump_root="hdfs://east/twinhive/dumps_n",
            staging_root="hdfs://north/twinhive/staging",
        )
        way = Way(policy, self.east, side, InMemoryLease())
        run_bootstrap(policy, way.ports(), {"run": "n"}, lambda line: None)
        return way


def _left_out(source: str) -> External:
    return External(included=False, source_root=f"hdfs://{source}")
