"""Rehearse a pass over the external tables: list both sides of each directory, and say what a copy would do."""

import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import cast

from twinhive.dry_run.phase_plan import PhasePlan, PlanSection
from twinhive.dry_run.pretended_files import PretendedFiles
from twinhive.dry_run.rehearsing import Rehearsing
from twinhive.dump.external_passes import entries_of_task
from twinhive.external.gate import CheckBase
from twinhive.external.look import look_at_all
from twinhive.external.pass_ import ListExternal
from twinhive.external.sync import DirectorySync, Moment
from twinhive.model.errors import TwinhiveError
from twinhive.model.external.entries import Entry
from twinhive.model.files import is_below
from twinhive.replica.synced import Synced
from twinhive.transfer.tree.dry_run import BRINGS, EQUAL
from twinhive.transfer.tree.report import PlanRow
from twinhive.transfer.tree.tally import Tally

Rows = list[PlanRow] | TwinhiveError


def rehearse_external(rehearsing: Rehearsing) -> PhasePlan:
    """Check the base directory, list the pass, and compare its directories as their tasks would."""
    ports = rehearsing.ports
    CheckBase(rehearsing.work()).run(ports)
    listed = ListExternal(rehearsing.work()).run(ports)
    if listed.idle:
        return rehearsing.plan(nothing=listed.idle)
    entries = [
        entry
        for batch in listed.batches
        for entry in entries_of_task(ports.dump_files, rehearsing.policy, listed.dump, batch.name)
    ]
    return _compared(rehearsing, entries)


def _compared(rehearsing: Rehearsing, entries: Sequence[Entry]) -> PhasePlan:
    found = _rows(rehearsing, entries)
    names: dict[str, list[str]] = defaultdict(list)
    tallies: dict[str, Tally] = defaultdict(Tally)
    for entry, rows in found:
        for row in rows if isinstance(rows, list) else ():
            names[row.what].append(entry.key)
            tallies[row.what] += row.tally
    brought = [tallies[what] for what in BRINGS if what in tallies]
    sections = [
        PlanSection.of(what, "in directories", names[what], files=tallies[what].files, length=tallies[what].bytes)
        for what in names
    ]
    purged = PlanSection.of("delete", "data of dropped tables", _purged(rehearsing))
    problems = tuple(rows for _, rows in found if isinstance(rows, TwinhiveError))
    changed = [entry for entry, rows in found if rows]
    idle = not changed and not purged.count
    return rehearsing.plan(
        nothing=f"all {len(entries):,} directories are equal on both sides" if idle else None,
        tables=len({entry.table for entry in changed}),
        files=sum(tally.files for tally in brought),
        bytes=sum(tally.bytes for tally in brought),
        sections=[*sections, purged],
        refusals=problems,
    )


def _purged(rehearsing: Rehearsing) -> list[str]:
    """Return the directories that listing the pass would have deleted, because their tables were dropped with them."""
    replica, base = cast(PretendedFiles, rehearsing.ports.trees.replica), rehearsing.policy.external.base_directory
    return [path for path in replica.deleted if base and is_below(path, base)]


def _rows(rehearsing: Rehearsing, entries: Sequence[Entry]) -> list[tuple[Entry, Rows]]:
    """Return what a copy of each directory would do: no rows for one that is equal."""
    ports, policy = rehearsing.ports, rehearsing.policy
    synced = Synced(ports.replica_files, policy)
    moment = Moment(event_id=ports.source.current_event_id(), at=time.time())
    syncs = [DirectorySync(entry, policy, ports.trees, moment, synced.record_of(entry.location)) for entry in entries]
    threads = policy.options.copy_threads
    looked_at = list(look_at_all(syncs, ports.trees, threads))

    def rows(sync: DirectorySync) -> Rows:
        try:
            return [row for row in sync.rehearse(1) if row.what != EQUAL]
        except TwinhiveError as error:
            return error

    differing = [sync for sync, found in zip(syncs, looked_at, strict=True) if found is None]
    with ThreadPoolExecutor(threads, "rehearse") as pool:
        of_differing = dict(zip((sync.entry for sync in differing), pool.map(rows, differing), strict=True))
    return [
        (sync.entry, found if isinstance(found, TwinhiveError) else of_differing.get(sync.entry, []))
        for sync, found in zip(syncs, looked_at, strict=True)
    ]
