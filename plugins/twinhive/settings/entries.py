"""What came of reading a configuration: policies that can be used, and why others cannot."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from twinhive.model.errors import InvalidSettings
from twinhive.model.next_steps import command
from twinhive.model.text import Clear
from twinhive.settings.clusters import ClusterSettings, default_cluster, sharing
from twinhive.settings.policies import PolicySettings
from twinhive.settings.watching import NotificationSettings


@dataclass(frozen=True)
class PolicyEntry:
    """A policy file: its settings, or the error that keeps it from being used."""

    name: str
    path: Path
    settings: PolicySettings | None
    error: str | None = None
    told: NotificationSettings = field(default_factory=NotificationSettings)
    """Who is told although the file cannot be used."""

    @property
    def notifications(self) -> NotificationSettings:
        """Return who is told of what is wrong with the policy."""
        return self.settings.notifications if self.settings else self.told

    def usable(self) -> PolicySettings:
        """Return the settings. Raises InvalidSettings with all that is wrong with the file."""
        if self.settings is None or self.error:
            raise InvalidSettings(
                self.error or f"policy {self.name} cannot be used",
                found=self.path,
                expected="a policy and its clusters as docs/configuration.md describes them",
                next_step=f"correct {self.path.name}, then "
                + Clear("this task")
                + "; check with: "
                + command("twinhive", "check", self.name),
            )
        return self.settings


@dataclass(frozen=True)
class Configuration:
    """All clusters and policies of a configuration directory, policies by name."""

    clusters: Mapping[str, ClusterSettings]
    policies: Mapping[str, PolicyEntry]
    directory: Path = Path("dags")
    default_cluster: str | None = None

    def clusters_of_metastore(self, cluster: str) -> tuple[str, ...]:
        """Return the clusters that share the metastore of a cluster, itself among them."""
        return sharing(self.clusters, cluster)

    def default_cluster_of(self, cluster: str) -> str:
        """Return the cluster to which tables of a cluster's metastore belong that do not say another one."""
        return default_cluster(self.clusters, cluster, self.default_cluster)

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
