"""Build what routes statements from settings: the metastore of several clusters, and their file systems."""

from collections import defaultdict
from collections.abc import Mapping

from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.errors import ActNow, InvalidSettings
from twinhive.core.model.file_system_names import OneFileSystem, by_one_name
from twinhive.core.model.files import authority, qualified
from twinhive.core.model.placement.copy_marks import DirectoryState
from twinhive.core.threads.lazy_property import lazy_property
from twinhive.federation.routing.cluster_choice import Lacks
from twinhive.federation.routing.freshness import FollowedLog, Freshness, read_tail
from twinhive.federation.routing.nested_directories import states_like
from twinhive.federation.routing.refusing import PlacedCopy
from twinhive.federation.routing.table_resolution import Clusters, Resolver
from twinhive.hive.adapters.hive.hive_metastore import ThriftMetastore
from twinhive.runtime.settings import Configuration, Resolve
from twinhive.runtime.wiring.file_wiring import files
from twinhive.runtime.wiring.placement_lookup import placed
from twinhive.runtime.wiring.resolved_endpoints import file_system_endpoint, metastore_endpoint


class RoutingWiring:
    """Adapters for the clusters that share a metastore with one of them."""

    def __init__(self, configuration: Configuration, cluster: str, resolve: Resolve) -> None:
        self._configuration, self._cluster, self._resolve = configuration, cluster, resolve

    @lazy_property
    def clusters(self) -> Clusters:
        """The clusters that share the metastore, and the one to which tables belong that say nothing."""
        configuration = self._configuration
        names = configuration.clusters_of_metastore(self._cluster)
        return Clusters(tuple(names), configuration.default_cluster_of(self._cluster))

    @lazy_property
    def metastore(self) -> ThriftMetastore:
        """The metastore."""
        cluster = self._configuration.clusters[self._cluster]
        at = metastore_endpoint(cluster.metastore, self._resolve, self._cluster, self._default_root)
        return ThriftMetastore(at.addresses, at.timeout_seconds, at.user, at.cluster, at.file_system)

    def resolver(self, *, looks: bool = True) -> Resolver:
        """Return what finds the tables of statements, as they are from now on. `looks`: at directories, too."""
        from twinhive.federation.routing.statement_reading import (
            view_reads,  # takes 17 MB: a gateway's ports read no statements
        )

        return Resolver(self.metastore, self.clusters, self.freshness(looks=looks), view_reads)

    def freshness(self, *, looks: bool = True, followed: FollowedLog | None = None) -> Freshness:
        """Return what judges copies, as they are from now on. `looks`: at directories, too."""
        read = read_tail if followed is None else followed.tail
        return Freshness(self.metastore, self._states if looks else None, read, patient=followed is None)

    def placement_of(self, lacks: Lacks) -> PlacedCopy:
        """Return the placement that copies what a cluster lacks of a table, or why none does."""
        return placed(self._configuration.placements, self.metastore, lacks)

    @lazy_property
    def roots(self) -> dict[str, str]:
        """The file systems of the clusters, by name."""
        return {name: endpoint.root for name, endpoint in self._endpoints.items()}

    @lazy_property
    def names(self) -> tuple[OneFileSystem, ...]:
        """The file systems of the clusters that are called by several names."""
        return tuple(one for endpoint in self._endpoints.values() if (one := endpoint.by_one_name).others)

    @property
    def _default_root(self) -> str:
        return self._endpoints[self.clusters.default].root

    @lazy_property
    def _endpoints(self) -> dict[str, FileSystemEndpoint]:
        settings = self._configuration.clusters
        return {name: file_system_endpoint(settings[name].file_system, self._resolve) for name in self.clusters.names}

    def _states(self, marked: Mapping[str, DirectoryState]) -> Mapping[str, DirectoryState]:
        """Return directories as they are, by one look at each directory around them."""
        known = {endpoint.root: endpoint for endpoint in self._endpoints.values()}
        paths = {place: by_one_name(qualified(place, self._default_root), self.names) for place in marked}
        by_root: dict[str, dict[str, DirectoryState]] = defaultdict(dict)
        for place, path in paths.items():
            by_root[authority(path)][path] = marked[place]
        found: dict[str, DirectoryState] = {}
        for root, states in by_root.items():
            if root not in known:
                raise ActNow(
                    "whether copies are fresh cannot be told: their tables lie on a file system that no cluster has",
                    found=root,
                    expected=f"one of {', '.join(sorted(known))}",
                    next_step="add its cluster to clusters.yaml, or set the location of these tables",
                )
            found |= states_like(files(known[root]), states)
        return {place: found[path] for place, path in paths.items() if path in found}


def cluster_of_metastore(configuration: Configuration, named: str | None) -> str:
    """Return a cluster of the metastore that is meant. Raises InvalidSettings."""
    clusters = configuration.clusters
    owners = sorted({configuration.clusters_of_metastore(name)[0] for name in clusters})
    if named is not None and named in clusters:
        return named
    if named is None and configuration.default_cluster:
        return configuration.default_cluster
    if named is None and len(owners) == 1:
        return owners[0]
    configuration.refuse_wrong_clusters()
    raise InvalidSettings(
        "whose metastore knows the tables is not said" if named is None else f"there is no cluster {named}",
        found=f"clusters.yaml has {', '.join(sorted(clusters)) or 'none'}",
        expected="the name of one of them, or default_cluster in clusters.yaml",
        next_step="name one with --metastore, or as `metastore` of a task",
    )
