"""What came of reading a configuration: policies that can be used, and why others cannot."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from twinhive.core.model.errors import InvalidSettings
from twinhive.core.model.next_steps import command
from twinhive.core.model.text import Again
from twinhive.runtime.settings.clusters import ClusterSettings, default_cluster, sharing
from twinhive.runtime.settings.placements import PlacementSettings
from twinhive.runtime.settings.policies import PolicySettings
from twinhive.runtime.settings.watch_settings import NotificationSettings

CLUSTERS_FILE = "clusters.yaml"


@dataclass(frozen=True)
class PolicyEntry:
    """A policy file: its settings, or the error that keeps it from being used."""

    name: str
    path: Path
    settings: PolicySettings | None
    error: str | None = None
    told: NotificationSettings = field(default_factory=NotificationSettings)
    """Who is told although the file cannot be used."""
    reverse_of: str | None = None
    """The policy whose file this one is made from, as that of the opposite direction."""

    @property
    def notifications(self) -> NotificationSettings:
        """Return who is told of what is wrong with the policy."""
        return self.settings.notifications if self.settings else self.told

    def usable(self) -> PolicySettings:
        """Return the settings. Raises InvalidSettings with all that is wrong with the file."""
        if self.settings is None or self.error:
            raise InvalidSettings(
                self.error or f"{self.path.name} cannot be used",
                found=self.path,
                expected="a policy or placement, and its clusters, as docs/configuration.md describes them",
                next_step=f"correct {self.path.name}, then "
                + Again()
                + "; check with: "
                + command("twinhive", "check", self.name),
            )
        return self.settings


@dataclass(frozen=True)
class PlacementEntry:
    """A placement file: its settings and the cluster that it copies from, or the error that keeps it from use."""

    name: str
    path: Path
    settings: PlacementSettings | None
    primary: str = ""
    error: str | None = None
    told: NotificationSettings = field(default_factory=NotificationSettings)
    """Who is told although the file cannot be used."""

    @property
    def notifications(self) -> NotificationSettings:
        """Return who is told of what is wrong with the placement."""
        return self.settings.notifications if self.settings else self.told

    def usable(self) -> PlacementSettings:
        """Return the settings. Raises InvalidSettings with all that is wrong with the file."""
        self.as_policy().usable()
        assert self.settings is not None
        return self.settings

    def as_policy(self) -> PolicyEntry:
        """Return the same for what knows policies."""
        settings = self.settings.as_policy(self.primary) if self.settings else None
        return PolicyEntry(self.name, self.path, settings, self.error, self.told)


@dataclass(frozen=True)
class Configuration:
    """All clusters, policies and placements of a configuration directory, the latter two by name."""

    clusters: Mapping[str, ClusterSettings]
    policies: Mapping[str, PolicyEntry]
    directory: Path = Path("dags")
    default_cluster: str | None = None
    placements: Mapping[str, PlacementEntry] = field(default_factory=dict)
    clusters_error: str | None = None
    """What is wrong with the file of the clusters: then there are none."""

    def refuse_wrong_clusters(self) -> None:
        """Raise InvalidSettings with all that is wrong with clusters.yaml: who finds no cluster is told why."""
        if self.clusters_error is not None:
            raise InvalidSettings(
                self.clusters_error,
                found=self.directory / CLUSTERS_FILE,
                expected="clusters as docs/configuration.md describes them",
                next_step=f"correct {CLUSTERS_FILE}; until then no cluster is known",
            )

    def clusters_of_metastore(self, cluster: str) -> tuple[str, ...]:
        """Return the clusters that share the metastore of a cluster, itself among them."""
        return sharing(self.clusters, cluster)

    def default_cluster_of(self, cluster: str) -> str:
        """Return the cluster to which tables of a cluster's metastore belong that do not say another one."""
        return default_cluster(self.clusters, cluster, self.default_cluster)

    def notifications(self, name: str) -> NotificationSettings:
        """Return who is told of a policy or placement; nobody, where there is none of this name."""
        entry = self.policies.get(name) or self.placements.get(name)
        return entry.notifications if entry else NotificationSettings()

    def policy(self, name: str) -> PolicyEntry:
        """Return a policy's entry. Raises InvalidSettings that lists the known names."""
        if name not in self.policies:
            raise InvalidSettings(
                f"there is no policy {name}",
                found=f"{len(self.policies)} policy files",
                expected=f"one of {', '.join(sorted(self.policies)) or '(no policy file found)'}",
                next_step="list the policies with: " + command("twinhive", "policies"),
            )
        return self.policies[name]

    def placement(self, name: str) -> PlacementEntry:
        """Return a placement's entry. Raises InvalidSettings that lists the known names."""
        if name not in self.placements:
            raise InvalidSettings(
                f"there is no placement {name}",
                found=f"{len(self.placements)} placement files",
                expected=f"one of {', '.join(sorted(self.placements)) or '(no placement file found)'}",
                next_step="see what placements there are with: " + command("twinhive", "check"),
            )
        return self.placements[name]

    def replicated(self, name: str) -> PolicyEntry:
        """Return what runs under a name: a policy, or a placement as one. Raises InvalidSettings."""
        return self.placements[name].as_policy() if name in self.placements else self.policy(name)
