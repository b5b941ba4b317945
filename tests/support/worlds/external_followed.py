"""Follow a source with external tables in memory; copies of their data come when a test says so."""

from dataclasses import replace

from tests.support.builders import a_policy, an_external
from tests.support.users.external_writer import ExternalWriter
from tests.support.worlds.fake_world import World
from tests.support.worlds.memory_comparison import described, spoken
from tests.unit.replication.incremental.test_incremental import Followed
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.replication.replica.pending_files import pending_names, read_pending
from twinhive.replication.replica.sync_records import SyncedEntry, write_synced

POLICY = a_policy(external=an_external())
TOPS = ("hdfs://east/data", "hdfs://east/other", "hdfs://east/outside", "hdfs://east/warehouse")
_NOT_CARRIED = {"TRANSLATED_TO_EXTERNAL"}


class FollowedExternals(Followed):
    """A replica that was published without external tables, and a policy that has them now."""

    users: ExternalWriter

    def __init__(self, policy: Policy = POLICY, world: World | None = None) -> None:
        super().__init__(replace(policy, external=replace(policy.external, included=False)), world)
        self.policy = policy
        self.users = ExternalWriter(self.world.source, self.world.source_files, "sales")

    @classmethod
    def from_the_beginning(cls, policy: Policy = POLICY, world: World | None = None) -> "FollowedExternals":
        """Return one that has all external tables of the source."""
        followed = cls(policy, world)
        followed.sync()
        followed.follow()
        return followed

    def sync(self, *sources: str, at: int | None = None) -> None:
        """Let a copy of each source directory be complete that began now, or at an earlier event."""
        at = self.world.source.current_event_id() if at is None else at
        for source in sources or TOPS:
            target = self.policy.external.place(source, source)
            write_synced(self.world.replica_files, self.policy, SyncedEntry(source, target, at, 0.0))

    def settle(self) -> None:
        """Let everything be followed and copied."""
        for _ in range(20):
            if self.follow()["window"].idle:
                break
        self.sync()
        self.follow()

    @property
    def pending(self) -> tuple[str, ...]:
        return pending_names(self.world.replica_files, self.policy)

    def record(self, table: str):
        return read_pending(self.world.replica_files, self.policy, table)

    def on_replica(self, table: str) -> Table | None:
        return self.world.replica.table(self.users.name(table))

    def partitions_on_replica(self, table: str) -> dict[str, str]:
        """Return names and locations."""
        name = self.users.name(table)
        there = self.world.replica.partitions(name, self.world.replica.partition_names(name))
        return {partition.name(self.on_replica(table).partition_keys): partition.location for partition in there}

    def assert_twin(self) -> None:
        super().assert_twin()
        assert self.externals(self.world.replica, lambda place: place) == self.externals(
            self.world.source, lambda place: self.policy.external.place(place, place)
        )

    def externals(self, metastore, placed) -> dict:
        tables = metastore.tables("sales", metastore.table_names("sales"))
        return {table.name.table: self._described(metastore, table, placed) for table in tables if table.is_external}

    def _described(self, metastore, table: Table, placed) -> dict:
        files = self.world.source_files if metastore is self.world.source else self.world.replica_files
        said = described(metastore, files, table)
        partitions = metastore.partitions(table.name, metastore.partition_names(table.name))
        return {
            "type": said["type"],
            "keys": said["keys"],
            "columns": said["columns"],
            "parameters": {key: value for key, value in said["parameters"].items() if key not in _NOT_CARRIED},
            "location": placed(table.location),
            "partitions": {each.values: (spoken(each.parameters), placed(each.location)) for each in partitions},
        }
