"""What `clusters.yaml` says: of each cluster its metastore, its file system, where it runs jobs (seed 000)."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from twinhive.runtime.settings.value_kinds import Pattern, RootUri, Strict, ThriftUri, Unit
from twinhive.runtime.settings.watch_settings import Limit, NotificationSettings


class MetastoreSettings(Strict):
    """Where a cluster's metastore is: an Airflow connection, or addresses, or that of another cluster."""

    connection: str | None = None
    """id of a connection. Exactly one of `connection`, `uris` and `of`"""
    uris: tuple[ThriftUri, ...] = ()
    """addresses of one metastore; the port is required. Reads go to whichever answers, each change to one, once"""
    user: str | None = None
    """name told to the metastore with `set_ugi`. Without it the connection's user; with neither nothing is told"""
    timeout_seconds: Annotated[int, Field(ge=1, le=3600), Unit("seconds")] = 60
    """for one call (connecting: at most 10 s); also how long a lease that was not released is waited for"""
    of: str | None = None
    """the cluster whose metastore this one shares: one metastore over several file systems. No other key beside it"""

    @model_validator(mode="after")
    def _one_of(self) -> "MetastoreSettings":
        if sum(map(bool, (self.connection, self.uris, self.of))) != 1:
            raise ValueError("give one of connection, uris and of")
        if self.of and self.model_fields_set != {"of"}:
            raise ValueError("what is said of a metastore is said where the cluster is that it is of")
        return self


class FileSystemSettings(Strict):
    """Where a cluster's file system is: an Airflow connection, or a URI with Hadoop properties."""

    connection: str | None = None
    """id of a connection. Exactly one of `connection` and `uri`"""
    uri: RootUri | None = None
    """the file system, without a path, exactly as the metastore writes locations"""
    user: str | None = None
    """user on the file system. Without it the connection's, else the process'"""
    hadoop: Mapping[str, str] = {}
    """properties of Hadoop's client; they win over those of the connection. No Hadoop file is read"""
    also: tuple[RootUri, ...] = ()
    """what else locations call it, besides the nameservice and the NameNodes that `hadoop` tells: `hdfs://old-name:8020`"""

    @model_validator(mode="after")
    def _one_of(self) -> "FileSystemSettings":
        if bool(self.connection) == bool(self.uri):
            raise ValueError("give either connection or uri")
        return self


class JobTrackerSettings(Strict):
    """Where a cluster runs jobs."""

    connection: str
    """id of a Spark connection. Of a policy's two clusters only the replica's is used"""
    user: str | None = None
    """as whom `ClusterSqlOperator` runs statements here. Without it the user of `file_system`, but where that one owns
    the copies of a placement: there a statement has to say its user"""


class SetsSettings(Strict):
    """Sets of partitions that are done (docs/sets.md)."""

    keep: Annotated[
        str, Field(pattern=r"^(\d{1,9}[dhms]|forever)\Z"), Unit("`30d`, `12h`, `10m`, `45s` or `forever`")
    ] = "30d"
    """how long marks are kept of tables that do not say it themselves, by their property `twinhive.sets.keep`"""


class PortSettings(Strict):
    """The port at which `twinhive gateway` serves the metastore as this cluster sees it."""

    port: Annotated[int, Field(ge=1, le=65_535)] | None = None
    """where `twinhive gateway` serves the metastore as this cluster [sees it](clusters.md); without it, nowhere"""
    uris: tuple[ThriftUri, ...] = ()
    """where jobs that Airflow submits to this cluster reach it; without them they ask the metastore itself, which shows
    no copies"""
    absent: Literal["refused", "remote"] = "refused"
    """what is not whole on this cluster: reading it fails, or is done at its primary's place, over the line between the
    clusters"""


class MessagesSettings(Strict):
    """Messages about partitions and sets (docs/messages.md)."""

    broker: str | None = None
    """id of the connection (type `stomp` or `kafka`) by which messages are published"""
    reader: str | None = None
    """id of the connection by which `twinhive listen` reads; without it that of `broker`"""
    topic: Annotated[
        str,
        Field(pattern=r"^([A-Za-z0-9._-]|\{(cluster|database|table)\})+\Z"),
        Unit("text with `{cluster}`, `{database}`, `{table}`"),
    ] = "twinhive.{cluster}.{database}.{table}"
    """the topic of a table. Without `{table}` all tables of a database share one. Who subscribes to a database hears
    what is below the last `.` before `{table}`"""
    table_topics: Pattern = r"twinhive\..+"
    """topics that a table may name itself, by its property `hcat.msgbus.topic.name`"""
    databases: tuple[Pattern, ...] = (".*",)
    """databases that are told about, in any case"""
    max_silence: Limit = 120.0
    """`twinhive.monitor` fails when something waits to be told for so long, or the broker does not answer"""
    notifications: NotificationSettings = NotificationSettings()
    """who is told of that"""


class ClusterSettings(Strict):
    """One cluster."""

    metastore: MetastoreSettings
    """its metastore"""
    file_system: FileSystemSettings
    """its file system"""
    job_tracker: JobTrackerSettings
    """where it runs jobs"""
    gateway: PortSettings = PortSettings()
    """its own port of the gateway"""
    sets: SetsSettings = SetsSettings()
    """sets of partitions that are done"""
    messages: MessagesSettings = MessagesSettings()
    """messages about partitions and sets"""


class ClustersFile(Strict):
    """The whole file."""

    clusters: dict[str, ClusterSettings]
    """any number of clusters by name. If this file is wrong, every policy is"""
    default_cluster: str | None = None
    """of clusters that share a metastore, the one to which every table belongs that says nothing else. Without it the
    one whose metastore it is"""


ClustersByName = Mapping[str, ClusterSettings]


def metastore_owner(clusters: ClustersByName, name: str) -> str:
    """Return the cluster whose metastore a cluster uses: most use their own."""
    return clusters[name].metastore.of or name


def sharing(clusters: ClustersByName, name: str) -> tuple[str, ...]:
    """Return the clusters over the same metastore as a cluster, in the order of the file; most are alone."""
    owner = metastore_owner(clusters, name)
    return tuple(other for other in clusters if metastore_owner(clusters, other) == owner)


def default_cluster(clusters: ClustersByName, name: str, said: str | None) -> str:
    """Return the cluster to which tables belong that say nothing, in the metastore that a cluster uses.

    `said` is `default_cluster` of the file, which speaks of one metastore; of the others it is their own cluster.
    """
    return said if said in sharing(clusters, name) else metastore_owner(clusters, name)


def wrong_shares(file: ClustersFile) -> Iterator[str]:
    """Find metastores that are said to be those of clusters that have none, and a default cluster that is none."""
    known = ", ".join(sorted(file.clusters))
    owners = [name for name, cluster in file.clusters.items() if cluster.metastore.of is None]
    for name, cluster in file.clusters.items():
        if cluster.metastore.of is not None and cluster.metastore.of not in owners:
            expected = f"a cluster with a metastore of its own: {', '.join(sorted(owners)) or '(there is none)'}"
            yield f"clusters.{name}.metastore.of: found {cluster.metastore.of!r}, expected {expected}"
    yield from _shared_ports(file)
    if file.default_cluster is not None and file.default_cluster not in file.clusters:
        yield f"default_cluster: found {file.default_cluster!r}, expected one of {known or '(there is no cluster)'}"


def _shared_ports(file: ClustersFile) -> Iterator[str]:
    """Find ports of two clusters over one metastore: one gateway listens at both."""
    taken: dict[tuple[str, int], str] = {}
    for name, cluster in file.clusters.items():
        port = cluster.gateway.port
        first = name if port is None else taken.setdefault((cluster.metastore.of or name, port), name)
        if first != name:
            yield f"clusters.{name}.gateway.port: found {port}, expected another one than that of {first}"


def with_shared_metastores(clusters: ClustersByName) -> dict[str, ClusterSettings]:
    """Return the clusters so that each says where its metastore is; `of` stays, so that sharing can be told."""

    def told(cluster: ClusterSettings) -> ClusterSettings:
        if cluster.metastore.of is None:
            return cluster
        metastore = clusters[cluster.metastore.of].metastore.model_copy(update={"of": cluster.metastore.of})
        return cluster.model_copy(update={"metastore": metastore})

    return {name: told(cluster) for name, cluster in clusters.items()}
