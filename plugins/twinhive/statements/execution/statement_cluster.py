"""Find where a statement runs: the cluster that is named, the policy's, or the only one there is."""

from dataclasses import astuple, dataclass

from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.files import authority
from twinhive.core.model.policy import DatabaseAddress
from twinhive.core.model.scopes.scope import Scope
from twinhive.core.model.scopes.scope_texts import scope_text
from twinhive.runtime.settings import ClusterSettings, Configuration, PolicySettings, Resolve
from twinhive.runtime.settings.clusters import metastore_owner
from twinhive.runtime.settings.repl_settings import ReplSettings
from twinhive.runtime.wiring.policy_wiring import Servers
from twinhive.runtime.wiring.resolved_endpoints import file_system_endpoint, metastore_endpoint
from twinhive.statements.execution.spark_copies import SparkOf


@dataclass(frozen=True)
class StatementPlace:
    """What a statement is run in.

    cluster  the name of the cluster that it is said to: the source of a dump, the replica of a load
    policy   the policy under which it is run: its clusters, its `hive_conf`, its options, its marks
    spark    finds the Spark that makes large copies of a load; None: all is copied in this process
    is_rerun of a task that was tried before: what it finds made just so, or dropped, it may have done itself
    """

    configuration: Configuration
    resolve: Resolve
    cluster: str | None = None
    policy: str | None = None
    spark: SparkOf | None = None
    is_rerun: bool = False

    @property
    def settings(self) -> PolicySettings | None:
        """The policy's settings, None without one. Raises InvalidSettings."""
        return None if self.policy is None else self.configuration.policy(self.policy).usable()

    def defaults(self) -> ReplSettings:
        """Return what the policy file says elsewhere of what keys of WITH can say too."""
        settings = self.settings
        assert settings is not None, "only a policy has any"
        return ReplSettings(
            options=settings.options.tuning,
            external=settings.external_tables.external(),
            staging_root=settings.staging_root,
        )

    def file_scope(self, replica: DatabaseAddress) -> str | None:
        """Return what the policy file selects whose replica a database is; None for another one, and without a policy.

        Raises InvalidSettings.
        """
        settings = self.settings
        if settings is None or (settings.replica.cluster, settings.replica.database) != astuple(replica):
            return None
        return scope_text(Scope(settings.source.database, settings.tables.include, settings.tables.exclude))

    def dumping_cluster(self) -> str:
        """Return the cluster whose database is dumped. Raises InvalidSettings."""
        return self._chosen(None if self.settings is None else self.settings.source.cluster)

    def loading_cluster(self) -> str:
        """Return the cluster that loads, or is asked for its status. Raises InvalidSettings."""
        return self._chosen(None if self.settings is None else self.settings.replica.cluster)

    def _chosen(self, of_policy: str | None) -> str:
        name = self.cluster or of_policy
        clusters = self.configuration.clusters
        known = sorted(name for name in clusters if metastore_owner(clusters, name) == name)
        if name is None and len(known) == 1:
            return known[0]
        self.configuration.refuse_wrong_clusters()
        if name is None:
            raise InvalidSettings(
                "the statement does not say to which cluster it is said",
                found=f"{len(known)} clusters in clusters.yaml",
                expected=f"one of {', '.join(known) or '(none is configured)'}",
                next_step="name it with --cluster, or a policy with --policy",
            )
        if of_policy is not None and name != of_policy:
            raise InvalidSettings(
                f"cluster {name} is not the one of policy {self.policy}",
                found=f"--cluster {name}",
                expected=of_policy,
                next_step="leave one of --cluster and --policy out",
            )
        self.cluster_named(name, "the statement")
        return name

    def cluster_named(self, name: str, by: str) -> ClusterSettings:
        """Return a cluster's settings. Raises InvalidSettings that says who named it."""
        if name not in self.configuration.clusters:
            raise InvalidSettings(
                f"{by} names a cluster that is not configured",
                found=name,
                expected=f"one of {', '.join(sorted(self.configuration.clusters)) or '(none is configured)'}",
                next_step=f"add cluster {name} to clusters.yaml, or name another one",
            )
        if (owner := metastore_owner(self.configuration.clusters, name)) != name:
            raise InvalidSettings(
                f"{by} names a cluster that has no metastore of its own",
                found=f"{name}, which shares that of {owner}",
                expected="a cluster with a metastore: it answers for all clusters that share it",
                next_step=f"name {owner} instead",
            )
        return self.configuration.clusters[name]

    def servers(self, cluster: str, database: str | None = None) -> Servers:
        """Return the servers of a cluster, which are asked about a database."""
        settings = self.configuration.clusters[cluster]
        files = self.file_system(cluster)
        return Servers(metastore_endpoint(settings.metastore, self.resolve, cluster, files.root), files, database)

    def file_system(self, cluster: str) -> FileSystemEndpoint:
        """Return the file system of a cluster."""
        return file_system_endpoint(self.configuration.clusters[cluster].file_system, self.resolve)

    def file_system_of(self, uri: str) -> FileSystemEndpoint:
        """Return the file system that a URI lies on. Raises InvalidSettings for one of no cluster."""
        endpoints = [self.file_system(name) for name in self.configuration.clusters]
        for endpoint in endpoints:
            if endpoint.root == authority(uri):
                return endpoint
        raise InvalidSettings(
            "the directory is on a file system of no cluster",
            found=uri,
            expected=f"a directory on {' or '.join(sorted({endpoint.root for endpoint in endpoints}))}",
            next_step="correct the directory, or add the cluster it lies on to clusters.yaml",
        )
