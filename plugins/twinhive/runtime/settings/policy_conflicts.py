"""Find what is wrong with policies although each file by itself is well formed."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from twinhive.runtime.settings.clusters import ClustersByName, metastore_owner
from twinhive.runtime.settings.hive_keys import wrong_setting
from twinhive.runtime.settings.policies import PolicySettings
from twinhive.runtime.settings.problems import numbered
from twinhive.runtime.settings.read_configuration import PlacementEntry, PolicyEntry
from twinhive.runtime.settings.value_kinds import LONGEST_POLICY


def unknown_clusters(settings: PolicySettings, clusters: ClustersByName) -> Iterator[str]:
    """Find clusters that `clusters.yaml` does not have."""
    for side, address in (("source", settings.source), ("replica", settings.replica)):
        if address.cluster not in clusters:
            known = ", ".join(sorted(clusters)) or "(clusters.yaml has none)"
            yield f"{side}.cluster: found {address.cluster!r}, expected one of {known}"


def shared_metastores(settings: PolicySettings, clusters: ClustersByName) -> Iterator[str]:
    """Find clusters without a metastore of their own: a database belongs to the metastore, whatever it spans."""
    for side, address in (("source", settings.source), ("replica", settings.replica)):
        if address.cluster in clusters and (owner := metastore_owner(clusters, address.cluster)) != address.cluster:
            yield f"{side}.cluster: found {address.cluster!r}, which shares the metastore of {owner}, expected {owner}"


def replica_is_source(settings: PolicySettings, clusters: ClustersByName) -> Iterator[str]:
    """Find a database that would be replicated into itself."""
    if settings.source == settings.replica:
        found = f"{settings.source.cluster}/{settings.source.database}"
        yield f"replica: found the source itself ({found}), expected another database"


def wrong_hive_conf(settings: PolicySettings, clusters: ClustersByName) -> Iterator[str]:
    """Find keys of Hive that no statement understands, and values that they do not allow."""
    for key, value in settings.hive_conf.items():
        if wrong := wrong_setting(key, value):
            yield f"hive_conf.{key}: found {wrong.found}, expected {wrong.expected}"


def fence_without_a_command(settings: PolicySettings, clusters: ClustersByName) -> Iterator[str]:
    """Find a fence that is to run a command, and does not say which; and a command that nothing runs.

    A command names a side, so the policy of the opposite direction, which has the same fence, has to say its own.
    """
    said, reverse = settings.failover, settings.failover.reverse
    has_command = "command" in said.fence
    if has_command and not said.close_command:
        yield "failover.close_command: found none, expected the words of a command, as failover.fence has 'command'"
    if not has_command and (said.close_command or said.open_command):
        yield "failover.fence: found no 'command', expected it, as failover.close_command or open_command is said"
    if reverse is not None and has_command and not reverse.close_command:
        yield (
            "failover.reverse.close_command: found none, expected the words of the command that keeps writers away "
            f"from {settings.replica.cluster}, as failover.fence has 'command': failover.close_command is for "
            f"{settings.source.cluster} alone"
        )
    if reverse is not None and not has_command and (reverse.close_command or reverse.open_command):
        yield "failover.fence: found no 'command', expected it, as failover.reverse has a command"


def no_name_for_the_reverse(settings: PolicySettings, clusters: ClustersByName) -> Iterator[str]:
    """Find a policy whose name has no room for what the policy of the opposite direction is called."""
    if settings.failover.reverse is not None and len(settings.policy) + len("_back") > LONGEST_POLICY:
        yield (
            f"policy: found {len(settings.policy)} letters, expected at most {LONGEST_POLICY - len('_back')}: "
            "failover.reverse makes a policy of that name with _back"
        )


RULES: tuple[Callable[[PolicySettings, ClustersByName], Iterator[str]], ...] = (
    unknown_clusters,
    shared_metastores,
    replica_is_source,
    wrong_hive_conf,
    fence_without_a_command,
    no_name_for_the_reverse,
)
"""What a policy file has to keep beside its own form."""


def with_rules(entry: PolicyEntry, clusters: ClustersByName) -> PolicyEntry:
    """Return a policy with all that it breaks of the rules."""
    if entry.settings is None or entry.error:
        return entry
    lines = [line for rule in RULES for line in rule(entry.settings, clusters)]
    return replace(entry, error=numbered(entry.path, lines)) if lines else entry


def same_name(entry: PolicyEntry) -> tuple[str, str]:
    """Name what no two policies may share: their names."""
    return "name", entry.name


def same_replica(entry: PolicyEntry) -> tuple[str, str] | None:
    """Name what no two policies may share: the database that they write.

    What the opposite direction may write one day is nobody's so far: of several of one source, each has one, the
    database's own mark says which is used, and the others are refused.
    """
    if entry.settings is None or entry.reverse_of is not None:
        return None
    replica = entry.settings.replica
    return "replica database", f"{replica.cluster}/{replica.database}"


_Entry = TypeVar("_Entry", PolicyEntry, PlacementEntry)

UNIQUE: tuple[Callable[[PolicyEntry], tuple[str, str] | None], ...] = (same_name, same_replica)
"""What only one policy may have."""


def without_conflicts(entries: Sequence[PolicyEntry]) -> dict[str, PolicyEntry]:
    """Turn policies that share what only one may have red, all of them, beside what else is wrong with their files."""
    groups: dict[tuple[str, str], list[PolicyEntry]] = defaultdict(list)
    for entry in entries:
        for shared in filter(None, (unique(entry) for unique in UNIQUE)):
            groups[shared].append(entry)
    conflicts: dict[str, list[str]] = defaultdict(list)
    for (what, value), members in groups.items():
        if len(members) > 1:
            files = ", ".join(sorted(entry.path.name for entry in members))
            for name in {entry.name for entry in members}:
                conflicts[name].append(
                    f"several policies have the same {what} {value}: {files}, expected one policy alone"
                )
    return with_conflicts(entries, conflicts)


def with_conflicts(entries: Sequence[_Entry], conflicts: Mapping[str, Sequence[str]]) -> dict[str, _Entry]:
    """Return entries by name, each with all that is wrong: its conflicts, then what its files have by themselves."""
    errors = {entry.name: dict.fromkeys(conflicts.get(entry.name, ())) for entry in entries}
    for entry in entries:
        if entry.error:
            errors[entry.name][entry.error] = None
    return {entry.name: replace(entry, error="\n".join(errors[entry.name]) or None) for entry in entries}
