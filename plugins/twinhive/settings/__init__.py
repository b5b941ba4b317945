"""Load and validate the clusters and the policies of a configuration directory."""

from twinhive.settings.clusters import ClusterSettings, FileSystemSettings, MetastoreSettings
from twinhive.settings.configuration_loading import default_directory, load_clusters, load_configuration
from twinhive.settings.connection_environment import Resolve, resolve_from_environment
from twinhive.settings.placements import PlacementSettings
from twinhive.settings.policies import PolicySettings
from twinhive.settings.read_configuration import Configuration, PlacementEntry, PolicyEntry

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
