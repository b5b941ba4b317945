"""Run REPL DUMP and REPL LOAD between the two clusters of a world in memory, without their texts."""

from dataclasses import replace
from itertools import count
from typing import Any

from tests.support.builders import a_policy
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import World, a_world, tuned
from twinhive.core.model.policy import DatabaseAddress, Policy
from twinhive.core.ports import DumpPorts, WritePorts
from twinhive.core.step.step_base import Work
from twinhive.hive.adapters.hive.hive_source_marker import MetastoreMarker
from twinhive.replication.dump.repl_dump_description import open_sealed
from twinhive.statements.steps.repl_dump import ReplDump
from twinhive.statements.steps.repl_dump_options import Dumped, DumpOrder
from twinhive.statements.steps.repl_load import DumpLoaded, ReplLoad, replicated_event

EVERYTHING = (".*",)
Scope = tuple[tuple[str, ...], tuple[str, ...]]


def text_of(scope: Scope) -> str:
    include, exclude = scope
    return f"sales.{list(include)}" + (f".{list(exclude)}" if exclude else "")


class ReplWorld:
    """A source with users, and replicas that dumps are loaded into."""

    def __init__(self, batch_objects: int = 2_000) -> None:
        self.batch_objects = batch_objects
        self.world: World = a_world()
        self.users = SourceWriter(self.world.source, self.world.source_files, "sales")
        self.log: list[str] = []
        self._dumps = count(1)

    def policy(self, scope: Scope = (EVERYTHING, ()), replica: str = "sales") -> Policy:
        include, exclude = scope
        address = DatabaseAddress("west", replica)
        policy = a_policy(name=f"repl.{replica}", replica=address, include=include, exclude=exclude)
        return tuned(policy, batch_objects=self.batch_objects)

    def ports(self) -> DumpPorts:
        world = self.world
        return DumpPorts(world.source, world.source_files, world.source_files, MetastoreMarker(world.source))

    def dump(
        self,
        from_event: int | None = None,
        *,
        scope: Scope = (EVERYTHING, ()),
        replaces: Scope | None = None,
        to_event: int | None = None,
        limit: int | None = None,
        metadata_only: bool = False,
        external_whole: bool = False,
        ports: DumpPorts | None = None,
    ) -> Dumped:
        directory = f"hdfs://east/user/hive/repl/sales/{next(self._dumps):032x}"
        policy = replace(self.policy(scope), dump_directory=directory)
        order = DumpOrder(
            policy=policy,
            statement="REPL DUMP sales",
            scope=text_of(scope),
            replaced=self.policy(replaces) if replaces else None,
            replaces=text_of(replaces) if replaces else "",
            from_event=from_event,
            to_event=to_event,
            limit=limit,
            metadata_only=metadata_only,
            external_whole=external_whole,
        )
        return ReplDump(Work(policy, report=self.log.append), order, lambda: 1.0).run(ports or self.ports())

    def load(
        self,
        dumped: Dumped,
        replica: str = "sales",
        scope: Scope = (EVERYTHING, ()),
        ports: WritePorts | None = None,
        *,
        hive_places: bool = False,
        now: float = 0.0,
        **options: Any,
    ) -> DumpLoaded:
        _, dump = open_sealed(self.world.source_files, dumped.directory)
        policy = self.policy(scope, replica)
        policy = replace(policy, dump_directory=dumped.directory, fingerprint=dump.manifest.fingerprint)
        policy = replace(policy, options=replace(policy.options, **options))
        work = Work(policy, holder={"run": "load"}, report=self.log.append)
        return ReplLoad(work, dump, hive_places, clock=lambda: now).run(ports or self.world.ports())

    def status(self, replica: str = "sales") -> int | None:
        return replicated_event(self.world.replica.database(replica))

    def tables(self, replica: str = "sales") -> list[str]:
        return self.world.replica.table_names(replica)
