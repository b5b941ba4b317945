"""Build adapters from settings: the only place that does."""

from dataclasses import dataclass
from functools import cache
from typing import TypeVar, cast

from twinhive.core.model.endpoints import FileSystemEndpoint, MetastoreEndpoint
from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.files import authority, qualified
from twinhive.core.model.next_steps import DUMP_ROOT, correct
from twinhive.core.model.placement.kept_copies import KeptCopies
from twinhive.core.model.policy import DatabaseAddress, Policy
from twinhive.core.model.text import Again
from twinhive.core.ports import MetastoreWriter, ReadPorts, SourceMarker, TreePorts, WritePorts
from twinhive.core.threads.lazy_property import lazy_property
from twinhive.hive.adapters.hive.hive_metastore import ThriftMetastore
from twinhive.hive.adapters.hive.hive_source_marker import MetastoreMarker
from twinhive.hive.adapters.hive.hive_table_writer import ThriftTableWriter
from twinhive.hive.events.one_file_system import OneNamedMetastore
from twinhive.runtime.settings import ClusterSettings, Configuration, PlacementSettings, PolicySettings, Resolve
from twinhive.runtime.wiring.file_wiring import files, lease_keeper
from twinhive.runtime.wiring.resolved_endpoints import file_system_endpoint, metastore_endpoint
from twinhive.transfer.tree.executing import SETTLE_SECONDS


@dataclass(frozen=True)
class Wiring:
    """Adapters of one policy; every adapter is built once, when it is first asked for."""

    configuration: Configuration
    settings: PolicySettings
    resolve: Resolve
    placement: PlacementSettings | None = None

    @classmethod
    def of(cls, configuration: Configuration, policy: str, resolve: Resolve) -> "Wiring":
        """Look a policy up, or a placement. Raises InvalidSettings with all that is wrong with its file."""
        if policy in configuration.placements:
            entry = configuration.placements[policy]
            placement = entry.usable()
            return cls(configuration, placement.as_policy(entry.primary), resolve, placement)
        return cls(configuration, configuration.policy(policy).usable(), resolve)

    @lazy_property
    def policy(self) -> Policy:
        """The policy with full URIs."""
        settings, copies = self.settings, self._copies
        return Policy(
            name=settings.policy,
            source=DatabaseAddress(settings.source.cluster, settings.source.database),
            replica=DatabaseAddress(settings.replica.cluster, settings.replica.database),
            include=settings.tables.include,
            exclude=settings.tables.exclude,
            # What a placement writes down lies where the copies are.
            dump_root=qualified(settings.dump_root, (self.replica_endpoint if copies else self.source_endpoint).root),
            staging_root=qualified(settings.staging_root, self.replica_endpoint.root),
            external=settings.external_tables.external(self.source_endpoint.root, self.replica_endpoint.root),
            options=settings.options.tuning,
            fingerprint=self.placement.fingerprint if self.placement else settings.fingerprint,
            copies=copies,
            fence=settings.failover.rules,
            quiet_seconds=settings.failover.quiet_seconds,
        )

    @property
    def _copies(self) -> KeptCopies | None:
        placement = self.placement
        if placement is None:
            return None
        default = self.configuration.default_cluster_of(placement.cluster)
        root = qualified(placement.root, self.replica_endpoint.root)
        root = self.replica_endpoint.by_one_name.named(root)
        return KeptCopies(root, placement.partitions.include, placement.partitions.newest, default)

    @property
    def source(self) -> ClusterSettings:
        """The source cluster's settings."""
        return self.configuration.clusters[self.settings.source.cluster]

    @property
    def replica(self) -> ClusterSettings:
        """The replica cluster's settings."""
        return self.configuration.clusters[self.settings.replica.cluster]

    @lazy_property
    def source_endpoint(self) -> FileSystemEndpoint:
        """The source's file system."""
        return file_system_endpoint(self.source.file_system, self.resolve)

    @lazy_property
    def replica_endpoint(self) -> FileSystemEndpoint:
        """The replica's file system."""
        return file_system_endpoint(self.replica.file_system, self.resolve)

    @property
    def dump_endpoint(self) -> FileSystemEndpoint:
        """The file system of the dumps: the source's or the replica's, whichever `dump_root` names."""
        for endpoint in (self.source_endpoint, self.replica_endpoint):
            if authority(self.policy.dump_root) == endpoint.root:
                return endpoint
        raise InvalidSettings(
            f"dump_root of policy {self.policy.name} is on a file system of neither cluster",
            found=self.policy.dump_root,
            expected=f"a directory on {self.source_endpoint.root} or {self.replica_endpoint.root}",
            next_step=correct(DUMP_ROOT) + ", then " + Again(),
        )

    def read_ports(self) -> ReadPorts:
        """Return what planning steps use. The same adapters as `write_ports`, seen as readers."""
        return self.write_ports()

    def write_ports(self) -> WritePorts:
        """Return what changing steps use."""
        return ports_between(
            self._servers_of(self.policy.source, self.source_endpoint),
            self._servers_of(self.policy.replica, self.replica_endpoint),
            self.dump_endpoint,
        )

    def _servers_of(self, place: DatabaseAddress, files: FileSystemEndpoint) -> "Servers":
        settings = self.configuration.clusters[place.cluster].metastore
        endpoint = metastore_endpoint(settings, self.resolve, place.cluster, files.root)
        # The places of a placement are on both file systems.
        both = (self.source_endpoint, self.replica_endpoint) if self.placement else (files,)
        return Servers(endpoint, files, place.database, both)


Client = TypeVar("Client")


@dataclass(frozen=True)
class Servers:
    """The servers of one cluster; `database` is the one that they are asked about.

    places  the file systems that its tables may be on, if these are not the cluster's own
    """

    metastore: MetastoreEndpoint
    files: FileSystemEndpoint
    database: str | None = None
    places: tuple[FileSystemEndpoint, ...] = ()

    def with_one_name(self, client: Client) -> Client:
        """Return a client of the metastore that calls file systems as settings do, whatever locations say."""
        if self.database is None:
            return client
        for one in (each.by_one_name for each in self.places or (self.files,)):
            if one.others:
                client = cast(Client, OneNamedMetastore(cast(MetastoreWriter, client), one, self.database))
        return client


def ports_between(source: Servers, replica: Servers, dumps: FileSystemEndpoint) -> WritePorts:
    """Return what changing steps use to bring a source to a replica; `dumps` is where the dumps lie."""
    at_source = metastore(source.metastore)
    tree_lease = lease_keeper(replica.files, SETTLE_SECONDS)
    return WritePorts(
        source=source.with_one_name(at_source),
        replica=replica.with_one_name(metastore(replica.metastore)),
        source_files=files(source.files),
        replica_files=files(replica.files),
        dump_files=files(dumps),
        lease=lease_keeper(replica.files, settle_seconds=replica.metastore.timeout_seconds),
        source_marker=source_marker(at_source),
        trees=TreePorts(files(source.files), files(replica.files), tree_lease, restored=files(source.files)),
    )


@cache
def metastore(endpoint: MetastoreEndpoint) -> ThriftMetastore:
    """Return the client of a metastore, one for each endpoint in a process."""
    of_cluster = endpoint.cluster, endpoint.file_system
    return ThriftMetastore(endpoint.addresses, endpoint.timeout_seconds, endpoint.user, *of_cluster)


def source_marker(source: ThriftMetastore) -> SourceMarker:
    """Return what marks databases of a source."""
    return MetastoreMarker(source)


@cache
def table_writer(endpoint: MetastoreEndpoint) -> ThriftTableWriter:
    """Return a client of a metastore that tells its log of files too."""
    of_cluster = endpoint.cluster, endpoint.file_system
    return ThriftTableWriter(endpoint.addresses, endpoint.timeout_seconds, endpoint.user, *of_cluster)
