"""Find the placement that copies what a cluster lacks, or say why none does: as its runs would decide."""

from collections.abc import Iterator, Mapping

from twinhive.core.model.objects import Table
from twinhive.core.model.placement.kept_copies import KeptCopies, why_never_copied
from twinhive.core.ports import MetastoreReader
from twinhive.federation.routing.cluster_choice import Lacks
from twinhive.federation.routing.refusing import PlacedCopy
from twinhive.runtime.settings import PlacementEntry, PlacementSettings


def placed(placements: Mapping[str, PlacementEntry], metastore: MetastoreReader, lacks: Lacks) -> PlacedCopy:
    """Return the first placement that copies it, else the first that is meant for its table, with the reason."""
    table = metastore.table(lacks.table)
    if table is not None and (why := why_never_copied(table)):
        return PlacedCopy(why_not=why)
    found = list(_meant(placements, metastore, lacks, table))
    return next((one for one in found if one.copies), found[0] if found else PlacedCopy())


def _meant(
    placements: Mapping[str, PlacementEntry], metastore: MetastoreReader, lacks: Lacks, table: Table | None
) -> Iterator[PlacedCopy]:
    for name, entry in sorted(placements.items()):
        settings = entry.settings
        if settings is None or (settings.cluster, settings.database.lower()) != (lacks.cluster, lacks.table.database):
            continue
        if settings.tables.selects(lacks.table.table):
            yield PlacedCopy(name, _why_not(entry, settings, metastore, lacks, table))


def _why_not(
    entry: PlacementEntry, settings: PlacementSettings, metastore: MetastoreReader, lacks: Lacks, table: Table | None
) -> str | None:
    if entry.error:
        return "nothing, as its file cannot be used"
    if entry.primary != lacks.primary:
        return f"only copies of tables that belong to {entry.primary} (primary)"
    if table is None or not table.partition_keys or lacks.missing is None:
        return None
    kept = KeptCopies("", settings.partitions.include, settings.partitions.newest)
    names = metastore.partition_names(table.name) if kept.newest is not None else ()
    return kept.why_unwanted(lacks.missing.what, names)
