"""Hold two clusters whose source has external tables, and run passes of the data lane over them."""

import json
from dataclasses import asdict
from typing import Any

from tests.support.builders import a_partition, a_policy, a_table, an_external
from tests.support.worlds.fake_world import World
from tests.unit.transfer.tree.trees import below
from twinhive.core.model.changes.events import Position
from twinhive.core.model.files import join
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.objects import Database, Partition, Table
from twinhive.core.model.policy import Options, Policy
from twinhive.core.ports import WritePorts
from twinhive.core.step.step_base import Work
from twinhive.replication.dump.passes.external_passes import kept_records
from twinhive.replication.external_tables.check_base import BaseChecked, CheckBase
from twinhive.replication.external_tables.list_external import ExternalListed, ListExternal
from twinhive.replication.external_tables.sync_external import ExternalSynced, SyncExternal
from twinhive.replication.replica.pending_files import purge_path
from twinhive.replication.replica.pending_tables import PurgeNote
from twinhive.replication.replica.sync_records import Synced, SyncedEntry

BASE = "hdfs://west/ext"


class ExternalWorld:
    """A source database `sales` with the external table `events` in /data/events; its replica follows."""

    def __init__(self, *, options: dict[str, Any] | None = None, follows: bool = True, **external: Any) -> None:
        self.world = World()
        self.log: list[str] = []
        self.policy: Policy = a_policy(
            external=an_external(**external), options=Options(**{"copy_threads": 2, **(options or {})})
        )
        self.world.source.create_database(Database("sales", None, None, {}, "{}"))
        if follows:
            self.follow_up_to(0)
        self.events = self.add_table("events", "hdfs://east/data/events")

    def follow_up_to(self, event_id: int) -> None:
        """Let the replica say that it is at an event."""
        state = ReplicaState(Phase.FOLLOWING, "sales", "log-east", "d", Position(event_id, 1, "x"))
        if self.world.replica.database("sales") is None:
            self.world.replica.create_database(Database("sales", None, None, {}, "{}"))
        self.world.replica.set_database_parameters("sales", state.written())

    def add_table(self, name: str, location: str, keys: tuple[str, ...] = (), **changes: Any) -> Table:
        """Create an external table at the source, and its directory."""
        table = a_table(f"sales.{name}", table_type="EXTERNAL_TABLE", location=location, partition_keys=keys, **changes)
        self.world.source.create_table(table)
        if location.startswith("hdfs://east/"):
            self.world.source_files.make_directories(location)
        return table

    def add_partition(self, table: Table, value: str, location: str | None = None) -> Partition:
        """Add a partition to a table, and its directory."""
        partition = a_partition(table, value, location=location)
        self.world.source.add_partitions([partition])
        if str(partition.location).startswith("hdfs://east/"):
            self.world.source_files.make_directories(str(partition.location))
        return partition

    def put(self, path: str, content: bytes = b"x") -> None:
        """Write a file of the source's data, `/data/events/f`."""
        self.world.source_files.put(f"hdfs://east{path}", content)

    def note_purge(self, path: str, event_id: int = 5) -> str:
        """Ask for the data of a dropped table to be deleted; return the note's path."""
        location = f"hdfs://east{path}"
        place = purge_path(self.policy, location)
        content = json.dumps(asdict(PurgeNote(location, event_id, "sales.gone"))).encode()
        self.world.replica_files.put(place, content)
        return place

    def ports(self) -> WritePorts:
        return self.world.ports()

    def work(self, batch: str = "", dump: str = "") -> Work:
        return Work(self.policy, batch, dump, {"run": "test"}, self.log.append)

    def check(self, ports: WritePorts | None = None) -> BaseChecked:
        return CheckBase(self.work()).run(ports or self.ports())

    def listed(self, ports: WritePorts | None = None) -> ExternalListed:
        return ListExternal(self.work()).run(ports or self.ports())

    def sync(self, listed: ExternalListed, ports: WritePorts | None = None) -> list[ExternalSynced]:
        return [SyncExternal(self.work(batch.name, listed.dump)).run(ports or self.ports()) for batch in listed.batches]

    def cycle(self, ports: WritePorts | None = None) -> list[ExternalSynced]:
        """Run a whole pass."""
        return self.sync(self.listed(ports), ports)

    def record(self, path: str) -> SyncedEntry | None:
        """Return the record of a location of the source, by its path."""
        return Synced(self.world.replica_files, self.policy).record_of(f"hdfs://east{path}")

    def last_look(self, path: str) -> SyncedEntry | None:
        """Return what the last pass has found of a location, which it may not have written into the record."""
        dumps, replica = self.world.source_files, self.world.replica_files
        synced = Synced(replica, self.policy)
        synced.take(kept_records(dumps, replica, self.policy))
        return synced.record_of(f"hdfs://east{path}")

    def there(self, path: str) -> dict[str, bytes | None]:
        """Return what the replica has of a path of the source, without what copies keep for themselves."""
        content = below(self.world.replica_files, join(BASE, path.lstrip("/")))
        return {name: held for name, held in content.items() if ".twinhive" not in name}

    def assert_holds(self, path: str) -> None:
        """Check that the replica has what the source has."""
        assert self.there(path) == below(self.world.source_files, f"hdfs://east{path}")

    def assert_twin(self, path: str) -> None:
        """Check that nothing unfinished is left beside it either."""
        self.assert_holds(path)
        left = [name for name in self.world.replica_files._nodes if "/work" in name or ".twinhive-data" in name]
        assert left == []


def a_world_with_files(**external: Any) -> ExternalWorld:
    """Return a world whose table has files in two directories."""
    world = ExternalWorld(**external)
    world.put("/data/events/f", b"one")
    world.put("/data/events/day=1/g", b"two")
    return world
