"""List the keys of Hive that have no use here, so that a script that brings them learns why, and what does it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RefusedKey:
    """A key of Hive, or all keys that begin with a name that ends in `*`; why it has no use here, and what to do."""

    name: str
    reason: str
    instead: str = "leave it out"

    def covers(self, key: str) -> bool:
        """True for this key."""
        return key.startswith(self.name[:-1]) if self.name.endswith("*") else key == self.name


_TRANSACTIONAL = "transactional tables are not replicated"
_OTHER_SERVICES = "rights and lineage of other services are not replicated"
_SNAPSHOTS = "say external_tables.snapshots in a policy file"

REFUSED: tuple[RefusedKey, ...] = (
    RefusedKey(
        "hive.repl.cm*",
        "the change manager is the source's metastore's, which says where it keeps files and how long",
        "set it there",
    ),
    RefusedKey("hive.repl.run.data.copy.tasks.on.target", "data is always copied by the load"),
    RefusedKey(
        "hive.repl.dump.skip.immutable.data.copy",
        "a replica never points at the source's files",
        "use hive.repl.dump.metadata.only if no data is wanted",
    ),
    RefusedKey(
        "distcp.options.*",
        "files are copied by an engine of our own",
        "use twinhive.bandwidth.mb, hive.repl.parallel.copy.tasks or, in a policy file, external_tables.preserve",
    ),
    RefusedKey(
        "hive.distcp.privileged.doAs",
        "files are copied as the user of the cluster's file system",
        "name the user in clusters.yaml",
    ),
    RefusedKey("hive.dbpath.*", "there are no DistCp jobs for one path each"),
    RefusedKey(
        "hive.repl.add.raw.reserved.namespace", "files are read and written in the clear, in each cluster's own zones"
    ),
    RefusedKey(
        "hive.repl.ha.*",
        "a cluster's name services are told to its own client",
        "say them in clusters.yaml, in file_system.hadoop",
    ),
    RefusedKey(
        "hive.repl.external.warehouse.single.copy.task*",
        "one copy never takes what no table owns; small directories share a task anyway",
    ),
    RefusedKey("hive.repl.externaltable.snapshot*", "snapshots are a matter of a policy", _SNAPSHOTS),
    RefusedKey("hive.repl.replica.functions.root.dir", "jars and files of functions lie beside the replica's tables"),
    RefusedKey(
        "hive.repl.retain.prev.dump.dir.count", "dumps are removed by age, not by number", "use hive.repl.dumpdir.ttl"
    ),
    RefusedKey("hive.repl.dumpdir.clean.freq", "dumps are cleaned with each dump", "use hive.repl.dumpdir.ttl"),
    RefusedKey("hive.repl.retain.custom.db.locations.on.target", "a replica's database lies in its own warehouse"),
    RefusedKey("hive.repl.include.materialized.views", "the replica's Hive has to build materialized views"),
    RefusedKey("hive.repl.batch.incremental.events", "a dump's events lie in one file that is read as a stream"),
    RefusedKey("hive.repl.partitions.dump.parallelism", "partitions are dumped as a stream"),
    RefusedKey("hive.repl.table.dump.parallelism", "tables are dumped as a stream"),
    RefusedKey(
        "hive.repl.load.partitions.with.data.copy.batch.size",
        "partitions are made in one way, with data or without",
        "use hive.repl.load.partitions.batch.size",
    ),
    RefusedKey("hive.exec.parallel", "copies are always parallel", "use hive.exec.parallel.thread.number"),
    RefusedKey("hive.repl.retry.*", "the task that runs the statement is repeated", "set retries in Airflow"),
    RefusedKey("hive.repl.copy.file.list.iterator.retry", "lists are written whole and renamed"),
    RefusedKey("hive.repl.dump.include.acid.tables", _TRANSACTIONAL),
    RefusedKey("hive.repl.bootstrap.acid.tables", _TRANSACTIONAL),
    RefusedKey("hive.repl.bootstrap.dump.*", _TRANSACTIONAL),
    RefusedKey("hive.repl.filter.transactions", _TRANSACTIONAL),
    RefusedKey("hive.repl.failover.start", "a replica does not become a source by a statement"),
    RefusedKey("hive.repl.include.authorization.metadata", _OTHER_SERVICES),
    RefusedKey("hive.repl.authorization.provider.service", _OTHER_SERVICES),
    RefusedKey("hive.repl.handle.ranger.deny.policy", _OTHER_SERVICES),
    RefusedKey("hive.repl.ranger.*", _OTHER_SERVICES),
    RefusedKey("hive.repl.include.atlas.metadata", _OTHER_SERVICES),
    RefusedKey("hive.repl.atlas.*", _OTHER_SERVICES),
    RefusedKey("hive.repl.external.client.connect.timeout", _OTHER_SERVICES),
    RefusedKey("hive.repl.source.cluster.name", "a cluster's name is that of clusters.yaml"),
    RefusedKey("hive.repl.target.cluster.name", "a cluster's name is that of clusters.yaml"),
    RefusedKey("hive.repl.stats.events.count", "the journal keeps all runs"),
    RefusedKey("hive.repl.task.factory", "there are no tasks of HCatalog"),
    RefusedKey("hive.metastore.uris", "a cluster's metastore is named in clusters.yaml", "name it there"),
    RefusedKey("hive.in.test", "each dump has a directory of its own, in tests as well"),
    RefusedKey("mapreduce.*", "there are no MapReduce jobs", "use options.spark_conf in a policy file"),
    RefusedKey("mapred.*", "there are no MapReduce jobs", "use options.spark_conf in a policy file"),
    RefusedKey("tez.*", "there are no Tez jobs", "use options.spark_conf in a policy file"),
)


def refused(key: str) -> RefusedKey | None:
    """Return why a key of Hive has no use here; None for a key that is none of these."""
    return next((one for one in REFUSED if one.covers(key)), None)
