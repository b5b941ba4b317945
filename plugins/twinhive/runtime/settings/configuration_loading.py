"""Read a configuration directory.

    <directory>/clusters.yaml         cluster name -> metastore, file system, job tracker (seed 000)
    <directory>/policies/<any>.yaml   one policy a file
    <directory>/placements/<any>.yaml one placement a file

A file that cannot be used never hides the others: it becomes an entry that carries its error.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from twinhive.runtime.settings.clusters import ClusterSettings, ClustersFile, with_shared_metastores, wrong_shares
from twinhive.runtime.settings.placement_rules import apart, with_placement_rules
from twinhive.runtime.settings.placements import PlacementSettings
from twinhive.runtime.settings.policies import PolicySettings
from twinhive.runtime.settings.policy_conflicts import with_rules, without_conflicts
from twinhive.runtime.settings.problems import explain, numbered
from twinhive.runtime.settings.read_configuration import CLUSTERS_FILE, Configuration, PlacementEntry, PolicyEntry
from twinhive.runtime.settings.reverse_policies import with_reverses
from twinhive.runtime.settings.value_kinds import is_policy_name, said_name
from twinhive.runtime.settings.watch_settings import NotificationSettings

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def default_directory(otherwise: str = "dags") -> Path:
    """Return the configuration directory: `TWINHIVE_CONFIG`, else another one, `dags` beside the caller."""
    return Path(os.environ.get("TWINHIVE_CONFIG") or otherwise)


def load_configuration(directory: Path) -> Configuration:
    """Read everything; broken files become entries with an error, never exceptions."""
    file, clusters_error = _load_clusters_file(directory / CLUSTERS_FILE)
    clusters = file.clusters
    paths = sorted([*(directory / "policies").glob("*.yaml"), *(directory / "policies").glob("*.yml")])
    entries = [_load_policy(path, clusters, clusters_error) for path in paths]
    policies = without_conflicts([*with_reverses(entries)])
    paths = sorted([*(directory / "placements").glob("*.yaml"), *(directory / "placements").glob("*.yml")])
    placements = [_load_placement(path, file, clusters_error) for path in paths]
    placed = apart(placements, policies)
    return Configuration(clusters, policies, directory, file.default_cluster, placed, clusters_error)


def load_clusters(path: Path) -> tuple[Mapping[str, ClusterSettings], str | None]:
    """Read the clusters, and what is wrong with the file."""
    file, error = _load_clusters_file(path)
    return file.clusters, error


def _load_clusters_file(path: Path) -> tuple[ClustersFile, str | None]:
    try:
        file = ClustersFile.model_validate(read_yaml(path))
    except (OSError, yaml.YAMLError, ValueError) as error:
        return ClustersFile(clusters={}), explain(path, error, ClustersFile)
    if wrong := list(wrong_shares(file)):
        return ClustersFile(clusters={}), numbered(path, wrong)
    return file.model_copy(update={"clusters": with_shared_metastores(file.clusters)}), None


def _load_policy(path: Path, clusters: Mapping[str, ClusterSettings], clusters_error: str | None) -> PolicyEntry:
    name, content = said_name(path.stem), None
    try:
        content = read_yaml(path)
        given = content.get("policy") if isinstance(content, dict) else None
        name = given if isinstance(given, str) and is_policy_name(given) else name
        settings = PolicySettings.model_validate(content)
    except (OSError, yaml.YAMLError, ValueError) as error:
        return PolicyEntry(name, path, None, explain(path, error, PolicySettings), told_by(content))
    return with_rules(PolicyEntry(name, path, settings, clusters_error), clusters)


def _load_placement(path: Path, file: ClustersFile, clusters_error: str | None) -> PlacementEntry:
    name, content = said_name(path.stem), None
    try:
        content = read_yaml(path)
        given = content.get("placement") if isinstance(content, dict) else None
        name = given if isinstance(given, str) and is_policy_name(given) else name
        settings = PlacementSettings.model_validate(content)
    except (OSError, yaml.YAMLError, ValueError) as error:
        return PlacementEntry(name, path, None, error=explain(path, error, PlacementSettings), told=told_by(content))
    entry = PlacementEntry(name, path, settings, settings.primary or "", clusters_error)
    return with_placement_rules(entry, file)


def told_by(content: Any) -> NotificationSettings:
    """Return who is to be told that a file cannot be used, as far as it says so."""
    try:
        return NotificationSettings.model_validate(content["notifications"])
    except (TypeError, KeyError, ValueError):
        return NotificationSettings()


def read_yaml(path: Path) -> Any:
    """Read a file's content. Raises OSError, yaml.YAMLError."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)  # noqa: S506 (a safe loader)
