"""Be two clusters in memory, with a source database that holds every awkward thing."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.support import seeds
from tests.support.builders import a_partition, a_policy, a_table
from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hdfs.fake_lease import InMemoryLease
from tests.support.hive.fake_metastore import InMemoryMetastore
from twinhive.core.model.objects import Database, Table
from twinhive.core.model.policy import Policy
from twinhive.core.ports import TreePorts, WritePorts
from twinhive.core.ports.proved_writes import unproved
from twinhive.hive.adapters.hive.hive_source_marker import MetastoreMarker

LISTENER = "org.apache.hive.hcatalog.listener.DbNotificationListener"
SOURCE_ADDRESS = "east-metastore:9083"
REPLICA_ADDRESS = "west-metastore:9083"


class World:
    """Hold both clusters; `ports()` is what steps are handed."""

    def __init__(self) -> None:
        self.source_files = InMemoryFiles("hdfs://east")
        self.replica_files = InMemoryFiles("hdfs://west")
        self.source = InMemoryMetastore(files=self.source_files, addresses=[SOURCE_ADDRESS])
        self.replica = InMemoryMetastore(
            file_system="hdfs://west", log_id="log-west", addresses=[REPLICA_ADDRESS], files=self.replica_files
        )
        self.source.configurations[SOURCE_ADDRESS] |= {
            "metastore.transactional.event.listeners": LISTENER,
            "metastore.repl.cm.enabled": "true",
            "metastore.repl.cmrootdir": "/cmroot",
        }
        self.replica.configurations[REPLICA_ADDRESS]["metastore.warehouse.dir"] = "hdfs://west/warehouse/managed"
        self.lease = InMemoryLease()

    def ports(self) -> WritePorts:
        """Return fresh ports over the same clusters."""
        return WritePorts(
            source=self.source,
            replica=self.replica,
            source_files=self.source_files,
            replica_files=self.replica_files,
            dump_files=self.source_files,
            lease=self.lease,
            source_marker=MetastoreMarker(self.source),
            trees=TreePorts(self.source_files, self.replica_files, self.lease, self.source_files),
        )

    def add_table(self, table: Table, *partitions: tuple[tuple[str, ...], dict[str, bytes]]) -> Table:
        """Create a source table; each partition comes with its values and its files."""
        self.source.create_table(table)
        made = [a_partition(table, *values) for values, _ in partitions]
        for partition, (_, files) in zip(made, partitions, strict=True):
            for name, content in files.items():
                self.source_files.put(f"{partition.location}/{name}", content)
        self.source.add_partitions(made)
        return table


def a_world() -> World:
    """Return two clusters whose source holds one database `sales` with awkward contents."""
    world = World()
    parameters = {"team": "Zürich", "repl.last.id": "99"}
    world.source.create_database(
        Database("sales", None, None, parameters, thrift="{}", comment="all sales", owner="ann")
    )
    world.add_table(
        a_table("sales.orders", partition_keys=("p",)),
        (("a b",), {"f1": b"one", "sub dir/f2": b"two"}),
        (("50%=#:ü",), {"000000_0": b"three"}),
        (("no files",), {}),
    )
    plain = world.add_table(a_table("sales.plain", parameters={"comment": "x"}))
    world.source_files.put(f"{plain.location}/data", b"plain")
    world.source_files.put(f"{plain.location}/zero", b"")
    world.source_files.put(f"{plain.location}/_SUCCESS", b"")
    world.add_table(a_table("sales.empty"))
    world.add_table(a_table("sales.no_partitions", partition_keys=("p",)))
    world.add_table(a_table("sales.recent", table_type="VIRTUAL_VIEW", location=None))
    world.add_table(a_table("sales.outside", table_type="EXTERNAL_TABLE", location="hdfs://east/outside"))
    return world


def tuned(policy: Policy | None = None, **options: Any) -> Policy:
    """Return a policy with other options; small batches cut every table into several."""
    policy = policy or a_policy()
    return replace(policy, options=replace(policy.options, **options))


class Killed(BaseException):
    """Stand for SIGKILL: nothing may catch it, nothing runs after it."""


class KillSwitch:
    """Kill the process at the n-th change, before or after it has taken effect."""

    def __init__(self, at: int, *, after_effect: bool) -> None:
        self.at = at
        self.after_effect = after_effect
        self.count = 0

    def change(self, effect: Callable[[], Any]) -> Any:
        """Count one change and carry it out, unless this is the one to die at."""
        self.count += 1
        if self.count > self.at or (self.count == self.at and not self.after_effect):
            raise Killed
        result = effect()
        if self.count == self.at:
            raise Killed
        return result


def kill_points(most: int, *, after_effect: bool, step: int = 1) -> range:
    """Return the changes to kill at today, one after the other, up to `most`.

    What is there after one change is there before the next, so of the kills after an effect every fourth will do.
    """
    return range(1, most)[seeds.kill_points(4 * step if after_effect else step)]


class Killable:
    """Pass everything on to a port; changes go through the switch."""

    CHANGES = (
        "create_database",
        "set_database_parameters",
        "create_table",
        "drop_table",
        "add_partitions",
        "alter_database",
        "alter_table",
        "alter_partitions",
        "rename_partition",
        "drop_partitions",
        "create_function",
        "drop_function",
        "add_constraints",
        "drop_constraint",
        "set_statistics",
        "delete_statistics",
        "write",
        "create_from",
        "append_from",
        "concatenate",
        "make_directories",
        "make_private",
        "rename",
        "replace",
        "delete",
        "delete_file",
        "to_trash",
        "set_attribute",
        "set_attributes",
        "set_permission",
        "fire_inserts",
        "recycle",
        "allow_snapshots",
        "create_snapshot",
        "delete_snapshot",
        "mark",
        "fence",
        "leave",
        "set_name_quota",
    )

    def __init__(self, port: Any, switch: KillSwitch) -> None:
        self._port = port
        self._switch = switch

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._port, name)
        if name not in self.CHANGES:
            return value
        return lambda *args, **kwargs: self._switch.change(lambda: value(*args, **kwargs))


def killable(ports: WritePorts, switch: KillSwitch) -> WritePorts:
    """Return the same ports with every change under the switch; a proof of a lease comes before it, and is none."""
    return WritePorts(
        source=ports.source,
        replica=Killable(unproved(ports.replica), switch),
        source_files=ports.source_files,
        replica_files=Killable(ports.replica_files, switch),
        dump_files=Killable(ports.dump_files, switch),
        lease=ports.lease,
        source_marker=Killable(unproved(ports.source_marker), switch),
        trees=TreePorts(
            Killable(ports.trees.source, switch),
            Killable(ports.trees.replica, switch),
            ports.trees.lease,
            Killable(ports.trees.restored, switch),
        ),
    )


def backup(metastore: InMemoryMetastore) -> Callable[..., None]:
    """Take a backup of a metastore's database; return what restores it later, with its log, and leaves files alone.

    It is restored into that metastore, or into one that is given: that of a copy of its world.
    """
    names = ("_databases", "_tables", "_functions", "_constraints", "_statistics")
    kept = {name: dict(getattr(metastore, name)) for name in names}
    partitions = {table: dict(some) for table, some in metastore._partitions.items()}
    rows, last_event_id = list(metastore._log.rows), metastore._log.last_event_id
    backed_up = metastore

    def restore(into: InMemoryMetastore | None = None) -> None:
        metastore = into or backed_up
        log = metastore._log
        for name, value in kept.items():
            setattr(metastore, name, dict(value))
        metastore._partitions = {table: dict(some) for table, some in partitions.items()}
        log.rows, log.last_event_id = list(rows), last_event_id
        # By then it is another time than when the events came that are taken back: theirs is told by their number here.
        metastore.pass_time(1_000)

    return restore
