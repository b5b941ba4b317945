"""Ask the metastore of a cluster, whatever policy there is."""

from dataclasses import dataclass

from twinhive.core.model.file_system_names import OneFileSystem
from twinhive.core.ports import MetastoreWriter
from twinhive.runtime.settings import Configuration, Resolve
from twinhive.runtime.wiring.policy_wiring import metastore
from twinhive.runtime.wiring.resolved_endpoints import file_system_endpoint, metastore_endpoint


@dataclass(frozen=True)
class ClustersWiring:
    """Adapters of clusters."""

    configuration: Configuration
    resolve: Resolve

    def file_system(self, cluster: str) -> OneFileSystem:
        """Return a cluster's file system, with all that it is called. Raises InvalidSettings."""
        return file_system_endpoint(self.configuration.clusters[cluster].file_system, self.resolve).by_one_name

    def metastore(self, cluster: str) -> MetastoreWriter:
        """Return the metastore that a cluster uses."""
        settings = self.configuration.clusters[cluster].metastore
        return metastore(metastore_endpoint(settings, self.resolve, cluster, self.file_system(cluster).root))


def cluster_metastore(configuration: Configuration, cluster: str, resolve: Resolve) -> MetastoreWriter:
    """Return the metastore that a cluster uses, to be read and changed."""
    return ClustersWiring(configuration, resolve).metastore(cluster)
