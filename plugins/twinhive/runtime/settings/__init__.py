"""Load and validate the clusters and the policies of a configuration directory."""

from twinhive.runtime.settings.clusters import ClusterSettings, FileSystemSettings, MetastoreSettings
from twinhive.runtime.settings.configuration_loading import default_directory, load_clusters, load_configuration
from twinhive.runtime.settings.connection_environment import Resolve, resolve_from_environment
from twinhive.runtime.settings.placements import PlacementSettings
from twinhive.runtime.settings.policies import PolicySettings
from twinhive.runtime.settings.read_configuration import Configuration, PlacementEntry, PolicyEntry

__all__ = [
    "ClusterSettings",
    "Configuration",
    "FileSystemSettings",
    "MetastoreSettings",
    "PlacementEntry",
    "PlacementSettings",
    "PolicyEntry",
    "PolicySettings",
    "Resolve",
    "default_directory",
    "load_clusters",
    "load_configuration",
    "resolve_from_environment",
]
