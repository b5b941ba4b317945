"""Hold every configuration key of HDFS and the metastore, as pure functions that return dicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from sandbox.ports import ClusterPorts, PortBlock

CLUSTERS = ("east", "west")
NORTH = "north"
"""A cluster without a metastore of its own: it shares that of `east`. Its servers start when somebody asks for them."""
USER = "hive"
LOOPBACK = "127.0.0.1"
WAREHOUSE = "/warehouse"
MANAGED_WAREHOUSE = f"{WAREHOUSE}/managed"
EXTERNAL_WAREHOUSE = f"{WAREHOUSE}/external"
CMROOT = f"{WAREHOUSE}/.cmroot"
PLAIN_CMROOT = f"{WAREHOUSE}/.cmroot-plain"
Properties = dict[str, str]


@dataclass(frozen=True)
class Database:
    """Say where a metastore keeps its tables."""

    port: int
    name: str
    user: str
    password: str
    host: str = LOOPBACK

    @property
    def jdbc_url(self) -> str:
        """Return the address in Java's form."""
        return f"jdbc:postgresql://{self.host}:{self.port}/{self.name}"

    @property
    def sqlalchemy_url(self) -> str:
        """Return the address in SQLAlchemy's form."""
        return f"postgresql+psycopg2://{self.user}:{self.password}@{self.host}:{self.port}/{self.name}"


def hdfs_server(ports: ClusterPorts, storage: Path) -> Properties:
    """Configure NameNode and DataNode; they know nothing of the logical names that clients use."""
    return {
        "fs.defaultFS": f"hdfs://{LOOPBACK}:{ports.namenode}",
        "hadoop.tmp.dir": str(storage / "tmp"),
        "dfs.namenode.name.dir": (storage / "name").as_uri(),
        # The DataNode runs in `storage`; it cannot handle a path with a blank, so it is given one without.
        "dfs.datanode.data.dir": "file:///proc/self/cwd/data",
        "dfs.namenode.rpc-address": f"{LOOPBACK}:{ports.namenode}",
        "dfs.namenode.rpc-bind-host": LOOPBACK,
        "dfs.namenode.http-address": f"{LOOPBACK}:{ports.namenode_http}",
        "dfs.namenode.http-bind-host": LOOPBACK,
        "dfs.datanode.address": f"{LOOPBACK}:{ports.datanode}",
        "dfs.datanode.ipc.address": f"{LOOPBACK}:{ports.datanode_ipc}",
        "dfs.datanode.http.address": f"{LOOPBACK}:{ports.datanode_http}",
        "dfs.datanode.hostname": "localhost",
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        "dfs.replication": "1",
        "dfs.namenode.handler.count": "8",
        "dfs.datanode.handler.count": "4",
        "dfs.namenode.safemode.extension": "0",
        "dfs.namenode.safemode.min.datanodes": "1",
        "dfs.heartbeat.interval": "1",
        # An idle NameNode looks for blocks to delete that often; each ten milliseconds is a hundredth of a core.
        "dfs.namenode.block.deletion.unlock.interval.ms": "500",
        "dfs.namenode.fs-limits.min-block-size": "1024",
        "dfs.namenode.acls.enabled": "true",
        # Survives a killed NameNode, though not a power cut; every metadata change would cost a disk flush.
        "dfs.namenode.edits.noeditlogchannelflush": "true",
        **identity(),
    }


def hadoop_client(cluster: str, block: PortBlock, known: Sequence[str] = (*CLUSTERS, NORTH)) -> Properties:
    """Configure a client of the known file systems whose default one is `cluster`'s."""
    properties = {
        "fs.defaultFS": f"hdfs://{cluster}",
        "dfs.nameservices": ",".join(known),
        "dfs.replication": "1",
        # Without this, closing a file sleeps 100 to 400 ms while the only replica is being reported.
        "dfs.client.block.write.locateFollowingBlock.initial.delay.ms": "4",
        # It doubles with each try: a busy DataNode has 16 s to report.
        "dfs.client.block.write.locateFollowingBlock.retries": "12",
        # A dead NameNode is to be noticed within seconds.
        "dfs.client.failover.max.attempts": "3",
        "dfs.client.failover.sleep.base.millis": "200",
        "dfs.client.failover.sleep.max.millis": "500",
        "ipc.client.connect.max.retries": "2",
        "ipc.client.connect.retry.interval": "200",
        # A cluster of one DataNode has none to replace a failed one with.
        "dfs.client.block.write.replace-datanode-on-failure.policy": "NEVER",
        **identity(),
    }
    for name in known:
        properties[f"dfs.ha.namenodes.{name}"] = "nn1"
        properties[f"dfs.namenode.rpc-address.{name}.nn1"] = f"{LOOPBACK}:{block.cluster(name).namenode}"
        properties[f"dfs.client.failover.proxy.provider.{name}"] = (
            "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider"
        )
    return properties


def identity() -> Properties:
    """Give the sandbox's user, whom the machine does not know, a group and the right to act for others."""
    return {
        # The change manager insists on a group.
        "hadoop.user.group.static.mapping.overrides": f"{USER}={USER},supergroup",
        # The metastore asks for this when it guards its notifications.
        f"hadoop.proxyuser.{USER}.hosts": "*",
        f"hadoop.proxyuser.{USER}.groups": "*",
    }


def metastore(cluster: str, port: int, database: Database) -> Properties:
    """Configure the metastore server of `cluster`."""
    return {
        **_both("warehouse.dir", f"hdfs://{cluster}{MANAGED_WAREHOUSE}"),
        **_both("warehouse.external.dir", f"hdfs://{cluster}{EXTERNAL_WAREHOUSE}"),
        "metastore.thrift.bind.host": LOOPBACK,
        "metastore.thrift.port": str(port),
        "metastore.thrift.uris": "",
        "hive.metastore.limit.partition.request": "-1",
        # Non-ACID managed tables stay managed tables; a test overrides this to see Hive's translation.
        **_both("metadata.transformer.class", " "),
        **_metastore_database(database),
        **_notifications(),
        **_change_manager(cluster),
        **_no_housekeeping(),
    }


def metastore_client(cluster: str, block: PortBlock) -> Properties:
    """Configure a client of `cluster`'s metastore."""
    port = block.cluster(cluster).metastore
    return {
        "hive.metastore.uris": f"thrift://{LOOPBACK}:{port}",
        "metastore.thrift.uris": f"thrift://{LOOPBACK}:{port}",
        **_both("warehouse.dir", f"hdfs://{cluster}{MANAGED_WAREHOUSE}"),
        **_both("warehouse.external.dir", f"hdfs://{cluster}{EXTERNAL_WAREHOUSE}"),
        **_both("dml.events", "true"),
        **_change_manager(cluster),
    }


def _both(key: str, value: str) -> Properties:
    """Spell a key both ways: the server reads the short one, code shared with Hive the long one."""
    return {f"metastore.{key}": value, f"hive.metastore.{key}": value}


def with_twins(overrides: Mapping[str, str], base: Mapping[str, str]) -> Properties:
    """Give each override also the other spellings that `base` has, which would otherwise contradict it."""
    spelled = dict(overrides)
    for key, value in overrides.items():
        stem = key.removeprefix("hive.").removeprefix("metastore.")
        twins = (f"metastore.{stem}", f"hive.metastore.{stem}", f"hive.{stem}")
        spelled |= {twin: value for twin in twins if twin in base and twin not in overrides}
    return spelled


def _metastore_database(database: Database) -> Properties:
    connection = {
        "ConnectionURL": database.jdbc_url,
        "ConnectionDriverName": "org.postgresql.Driver",
        "ConnectionUserName": database.user,
        "ConnectionPassword": database.password,
    }
    return {
        **{f"javax.jdo.option.{key}": value for key, value in connection.items()},
        "datanucleus.schema.autoCreateAll": "true",
        "datanucleus.connectionPool.maxPoolSize": "8",
        **_both("schema.verification", "false"),
        **_both("try.direct.sql", "true"),
    }


def _notifications() -> Properties:
    listener = "org.apache.hive.hcatalog.listener.DbNotificationListener"
    return {
        **_both("transactional.event.listeners", listener),
        **_both("event.db.listener.timetolive", "864000s"),
        **_both("dml.events", "true"),
        "metastore.metastore.event.db.notification.api.auth": "false",
        "hive.metastore.event.db.notification.api.auth": "false",
    }


def _change_manager(cluster: str) -> Properties:
    settings = {
        "enabled": "true",
        "rootdir": f"hdfs://{cluster}{CMROOT}",
        "nonencryptionzone.rootdir": f"hdfs://{cluster}{PLAIN_CMROOT}",
        "retain": "240h",
        "interval": "3600s",
    }
    spelled = {f"hive.repl.cm.{key}": value for key, value in settings.items() if key != "rootdir"}
    spelled |= {f"metastore.repl.cm.{key}": value for key, value in settings.items() if key != "rootdir"}
    spelled |= dict.fromkeys(("hive.repl.cmrootdir", "metastore.repl.cmrootdir"), settings["rootdir"])
    return spelled


def _no_housekeeping() -> Properties:
    """Keep the threads off that need the ACID tables, which this metastore's schema does not have."""
    return {
        "metastore.housekeeping.threads.on": "false",
        "metastore.housekeeping.leader.election": "host",
        **{f"{prefix}.compactor.initiator.on": "false" for prefix in ("metastore", "hive")},
        **{f"{prefix}.compactor.cleaner.on": "false" for prefix in ("metastore", "hive")},
        **{f"{prefix}.compactor.worker.threads": "0" for prefix in ("metastore", "hive")},
        "metastore.scheduled.queries.enabled": "false",
    }


def render_xml(properties: Mapping[str, str]) -> str:
    """Write properties in Hadoop's XML form."""
    rows = [
        f"  <property><name>{escape(name)}</name><value>{escape(value)}</value></property>"
        for name, value in sorted(properties.items())
    ]
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', "<configuration>", *rows, "</configuration>", ""])


def write_site_files(directory: Path, hadoop: Mapping[str, str], hive: Mapping[str, str] | None = None) -> None:
    """Write `core-site.xml`, `hdfs-site.xml` and, with `hive`, the two files the metastore reads."""
    directory.mkdir(parents=True, exist_ok=True)
    # All of them in core-site.xml: hdfs-site.xml is read late, only once an HDFS class is loaded.
    (directory / "core-site.xml").write_text(render_xml(hadoop))
    hdfs = {name: value for name, value in hadoop.items() if name.startswith("dfs.")}
    (directory / "hdfs-site.xml").write_text(render_xml(hdfs))
    if hive is not None:
        for name in ("hive-site.xml", "metastore-site.xml"):
            (directory / name).write_text(render_xml(hive))
            (directory / name).chmod(0o600)


def write_job_site_files(directory: Path, hadoop: Mapping[str, str], jobs: Mapping[str, str]) -> None:
    """Write the files above, and those that YARN and MapReduce read, after defaults of their own."""
    write_site_files(directory, {**hadoop, **jobs})
    for name in ("yarn-site.xml", "mapred-site.xml"):
        (directory / name).write_text(render_xml(jobs))
