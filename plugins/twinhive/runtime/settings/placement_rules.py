"""Find what is wrong with placements although each file by itself is well formed."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from twinhive.core.model.files import is_below, join
from twinhive.runtime.settings.clusters import ClustersFile, default_cluster, sharing
from twinhive.runtime.settings.placements import PlacementSettings
from twinhive.runtime.settings.policy_conflicts import with_conflicts
from twinhive.runtime.settings.problems import numbered
from twinhive.runtime.settings.read_configuration import PlacementEntry


def unknown_placement_clusters(settings: PlacementSettings, file: ClustersFile) -> Iterator[str]:
    """Find clusters that `clusters.yaml` does not have."""
    for key, name in (("cluster", settings.cluster), ("primary", settings.primary)):
        if name is not None and name not in file.clusters:
            known = ", ".join(sorted(file.clusters)) or "(clusters.yaml has none)"
            yield f"{key}: found {name!r}, expected one of {known}"


def clusters_of_two_metastores(settings: PlacementSettings, file: ClustersFile) -> Iterator[str]:
    """Find copies on a cluster that does not share the metastore, or on the very cluster that they are of."""
    if any(unknown_placement_clusters(settings, file)):
        return
    others = [name for name in sharing(file.clusters, settings.cluster) if name != settings.cluster]
    if not others:
        shared = sorted({name for name in file.clusters if len(sharing(file.clusters, name)) > 1})
        expected = f"one that shares its metastore with others: {', '.join(shared) or '(none does)'}"
        yield f"cluster: found {settings.cluster!r}, expected {expected}"
    elif primary_of(settings, file) not in others:
        key = "primary" if settings.primary else "primary (the default cluster)"
        yield f"{key}: found {primary_of(settings, file)!r}, expected one of {', '.join(sorted(others))}"


PLACEMENT_RULES: tuple[Callable[[PlacementSettings, ClustersFile], Iterator[str]], ...] = (
    unknown_placement_clusters,
    clusters_of_two_metastores,
)
"""What a placement file has to keep beside its own form."""


def primary_of(settings: PlacementSettings, file: ClustersFile) -> str:
    """Return the cluster whose tables a placement copies."""
    return settings.primary or default_cluster(file.clusters, settings.cluster, file.default_cluster)


def with_placement_rules(entry: PlacementEntry, file: ClustersFile) -> PlacementEntry:
    """Return a placement with the cluster that it copies from, and all that it breaks of the rules."""
    if entry.settings is None or entry.error:
        return entry
    settings = entry.settings
    lines = [line for rule in PLACEMENT_RULES for line in rule(settings, file)]
    if lines:
        return replace(entry, error=numbered(entry.path, lines))
    return replace(entry, primary=primary_of(settings, file))


def apart(entries: Sequence[PlacementEntry], policies: Collection[str]) -> Mapping[str, PlacementEntry]:
    """Turn placements red that share a name or a directory with another one, or a name with a policy."""
    conflicts: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        if entry.name in policies:
            conflicts[entry.name].append(f"{entry.path.name}: a policy has the name {entry.name}, expected another one")
        for other in entries:
            if other is not entry and (why := _in_the_way(entry, other)):
                conflicts[entry.name].append(f"{entry.path.name}: {why}")
    return with_conflicts(entries, conflicts)


def _in_the_way(entry: PlacementEntry, other: PlacementEntry) -> str | None:
    if entry.name == other.name:
        return f"{other.path.name} has the same name {entry.name}, expected one placement alone"
    one, two = entry.settings, other.settings
    if one is None or two is None or one.cluster != two.cluster:
        return None
    mine, theirs = join(one.root, one.placement), join(two.root, two.placement)
    if is_below(mine, theirs) or is_below(theirs, mine):
        return f"root: found {mine!r}, which lies in, or around, {theirs!r} of {other.path.name}, expected another"
    return None
