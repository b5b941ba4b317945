"""Rehearse a run of a placement: look as a run does, and say which marks would go and what would be copied."""

from collections.abc import Iterable
from typing import Any, cast

from twinhive.core.model.names import partition_values
from twinhive.core.model.placement.copy_marks import object_name
from twinhive.core.ports.proved_writes import unproved
from twinhive.federation.placement.copy_lists import objects_of
from twinhive.federation.placement.list_copies import ListCopies
from twinhive.federation.placement.placement_layout import copies_directory
from twinhive.runtime.dry_run.phase_plan import PlanSection
from twinhive.runtime.dry_run.pretended_metastore import PretendedMetastore
from twinhive.runtime.dry_run.rehearsing import Rehearsing


def list_copies(rehearsing: Rehearsing, _: object) -> object:
    """Look at all that may have changed; what the step would write, alter and remove is told."""
    listed = ListCopies(rehearsing.work(policy=rehearsing.copying_nothing)).run(rehearsing.ports)
    calls = cast(PretendedMetastore, unproved(rehearsing.ports.replica)).calls
    dropped, altered = (_objects(calls, method) for method in ("drop_partitions", "alter_partitions"))
    unmarked = PlanSection("take marks away from", "objects", listed.unmarked, dropped)
    dated = PlanSection("date marks anew of", "objects", listed.dated, altered)
    removed = rehearsing.removed_below(copies_directory(rehearsing.policy))
    rehearsing.add([unmarked, dated, PlanSection.of("remove", "directories that no mark names", removed)])
    rehearsing.add(
        [PlanSection.of("leave out", "objects", (f"{what} ({why})" for what, why in listed.left_out.items()))]
    )
    if listed.idle and not (listed.unmarked or listed.dated or removed):
        return rehearsing.ends(listed.idle)
    return rehearsing.ends() if listed.idle else listed


def _objects(calls: Iterable[tuple[str, str]], method: str) -> tuple[str, ...]:
    """Name the objects whose marks a method would have changed: marks are all that a run changes in a metastore."""
    found = []
    for _, what in filter(lambda call: call[0] == method, calls):
        own, _, name = what.partition(" ")
        table, _, one = partition_values(name)
        found.append(f"{own.partition('.')[0]}.{table}" + ("" if one == object_name(None) else f" {one}"))
    return tuple(found)


def mark_copies(rehearsing: Rehearsing, planned: Any) -> None:
    """Say what would be copied and marked then."""
    files, policy = rehearsing.ports.replica_files, rehearsing.policy
    objects = [one for batch in planned.batches for one in objects_of(files, policy, planned.dump, batch.name)]
    names = map(str, objects)
    rehearsing.copies(PlanSection.of("copy", "objects", names, files=planned.files, length=planned.bytes))
    rehearsing.add([PlanSection.of("mark copies of", "objects", map(str, objects))])
    rehearsing.totals.tables += len({one.table for one in objects})
    rehearsing.totals.partitions += sum(one.values is not None for one in objects)
