"""Rehearse a pass over the external tables: list both sides of each directory, and say what a copy would do."""

import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, cast

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.model.files import is_below
from twinhive.core.threads.parallel_map import in_threads
from twinhive.replication.dump.passes.external_entries import Entry
from twinhive.replication.dump.passes.external_passes import entries_of_task
from twinhive.replication.external_tables.equal_directories import look_at_all
from twinhive.replication.external_tables.list_external import ListExternal
from twinhive.replication.external_tables.sync_directory import DirectorySync, Moment
from twinhive.replication.notification_log.source_log import SourceLog
from twinhive.replication.replica.sync_records import Synced
from twinhive.runtime.dry_run.phase_plan import PlanSection
from twinhive.runtime.dry_run.pretended_files import PretendedFiles
from twinhive.runtime.dry_run.rehearsing import Rehearsing
from twinhive.transfer.tree.report import PlanRow
from twinhive.transfer.tree.tally import Tally
from twinhive.transfer.tree.tree_dry_run import BRINGS, EQUAL

RowsOrError = list[PlanRow] | TwinhiveError


def list_external(rehearsing: Rehearsing, _: object) -> object:
    """List the pass."""
    listed = ListExternal(rehearsing.work()).run(rehearsing.ports)
    return rehearsing.ends(listed.idle) if listed.idle else listed


def compare_directories(rehearsing: Rehearsing, planned: Any) -> None:
    """Compare the directories of the pass as its tasks would."""
    files, policy = rehearsing.ports.dump_files, rehearsing.policy
    entries = [entry for one in planned.batches for entry in entries_of_task(files, policy, planned.dump, one.name)]
    found = _rows(rehearsing, entries)
    names: dict[str, list[str]] = defaultdict(list)
    tallies: dict[str, Tally] = defaultdict(Tally)
    for entry, rows in found:
        for row in rows if isinstance(rows, list) else ():
            names[row.what].append(entry.key)
            tallies[row.what] += row.tally
    rehearsing.add(
        PlanSection.of(what, "in directories", names[what], files=tallies[what].files, length=tallies[what].bytes)
        for what in names
    )
    purged = PlanSection.of("delete", "data of dropped tables", _purged(rehearsing))
    rehearsing.add([purged])
    changed = [entry for entry, rows in found if rows]
    if not changed and not purged.count:
        rehearsing.nothing.append(f"all {len(entries):,} directories are equal on both sides")
    brought = [tallies[what] for what in BRINGS if what in tallies]
    rehearsing.totals.tables += len({entry.table for entry in changed})
    rehearsing.totals.files += sum(tally.files for tally in brought)
    rehearsing.totals.bytes += sum(tally.bytes for tally in brought)
    rehearsing.refusals.extend(rows for _, rows in found if isinstance(rows, TwinhiveError))


def _purged(rehearsing: Rehearsing) -> list[str]:
    """Return the directories that listing the pass would have deleted, because their tables were dropped with them."""
    replica, base = cast(PretendedFiles, rehearsing.ports.trees.replica), rehearsing.policy.external.base_directory
    return [path for path in replica.deleted if base and is_below(path, base)]


def _rows(rehearsing: Rehearsing, entries: Sequence[Entry]) -> list[tuple[Entry, RowsOrError]]:
    """Return what a copy of each directory would do: no rows for one that is equal."""
    ports, policy = rehearsing.ports, rehearsing.policy
    synced = Synced(ports.replica_files, policy)
    moment = Moment(SourceLog(ports.source).newest(), at=time.time(), failover="")
    syncs = [DirectorySync(entry, policy, ports.trees, moment, synced.record_of(entry.location)) for entry in entries]
    threads = policy.options.copy_threads
    looked_at = list(look_at_all(syncs, ports.trees, threads))

    def rows(sync: DirectorySync) -> RowsOrError:
        try:
            return [row for row in sync.rehearse(1) if row.what != EQUAL]
        except TwinhiveError as error:
            return error

    differing = [sync for sync, found in zip(syncs, looked_at, strict=True) if found is None]
    of_differing = dict(zip((sync.entry for sync in differing), in_threads(rows, differing, threads), strict=True))
    return [
        (sync.entry, found if isinstance(found, TwinhiveError) else of_differing.get(sync.entry, []))
        for sync, found in zip(syncs, looked_at, strict=True)
    ]
