"""Rehearse the stages that end with a loaded dump: those of the bootstrap, and of a round of consolidating."""

from collections.abc import Iterator
from typing import Any

from twinhive.core.model.policy import Policy
from twinhive.core.ports import ReadPorts
from twinhive.replication.bootstrap.function_check import left_out
from twinhive.replication.bootstrap.list_objects import ObjectsListed
from twinhive.replication.bootstrap.open_replica import built_directories
from twinhive.replication.bootstrap.preflight import Preflight
from twinhive.replication.dump.dump_layout import VIEWS
from twinhive.replication.dump.dump_store import Dump, dump_of_key
from twinhive.replication.replica.source_scope import each_table
from twinhive.replication.replica.stamping import is_ours
from twinhive.runtime.dry_run.phase_plan import PlanSection
from twinhive.runtime.dry_run.rehearsing import Rehearsing
from twinhive.runtime.pipeline.phases import LIST_OBJECTS, ROUND


def check_clusters(rehearsing: Rehearsing, _: object) -> object:
    """Check both clusters; sizes are those of directories, no file is listed."""
    preflight = Preflight(rehearsing.work(), again=rehearsing.options.again)
    if problems := preflight.problems(rehearsing.ports):
        rehearsing.refusals.extend(problems)
        return rehearsing.ends()
    rehearsing.measured = preflight.start(rehearsing.ports)
    if rehearsing.measured.already:
        return rehearsing.ends(rehearsing.measured.already)
    return rehearsing.measured


def list_objects(rehearsing: Rehearsing, _: object) -> ObjectsListed:
    """List the source into a dump that is only pretended."""
    return LIST_OBJECTS(rehearsing.work()).run(rehearsing.ports)


def fold_log(rehearsing: Rehearsing, _: object) -> object:
    """Fold the log into a dump that is only pretended."""
    folded = ROUND(rehearsing.work(policy=rehearsing.copying_nothing)).run(rehearsing.ports)
    if folded.already:
        return rehearsing.ends(folded.already)
    rehearsing.totals.events += folded.events
    return folded


def describe_load(rehearsing: Rehearsing, planned: Any) -> None:
    """Say what would be on the replica once the dump is copied and loaded."""
    dump = dump_of_key(rehearsing.ports.dump_files, rehearsing.policy, planned.dump)
    slices = [slice_ for batch in dump.manifest.batches for slice_ in batch.slices]
    tables = sorted({str(slice_.table) for slice_ in slices})
    partitions = sum(slice_.last - slice_.first for slice_ in slices)
    rehearsing.totals.tables += len(tables)
    rehearsing.totals.partitions += partitions
    rehearsing.add(_published(rehearsing, dump, tables, partitions))


def _published(rehearsing: Rehearsing, dump: Dump, tables: list[str], partitions: int) -> Iterator[PlanSection]:
    ports, manifest, address = rehearsing.ports, dump.manifest, rehearsing.policy.replica
    if ports.replica.database(address.database) is None:
        yield PlanSection.of("create", "databases", [str(address)])
    else:
        yield PlanSection.of("alter", "databases", [str(address)])
        yield PlanSection.of("drop", "tables of an earlier load", _earlier(ports, rehearsing.policy, manifest.log_id))
        yield PlanSection.of("remove", "directories of an earlier load", built_directories(ports, rehearsing.policy))
    yield PlanSection.of("remove", "older dumps and events", rehearsing.removed_below(rehearsing.policy.dumps))
    yield PlanSection.of("create", "tables", tables)
    yield PlanSection("create", "partitions", partitions)
    yield PlanSection.of("create", "views", _views(ports, dump))
    left = left_out(ports.source_files, rehearsing.policy, manifest.base.functions)
    functions = (function.name for function in manifest.base.functions if function.name not in left)
    yield PlanSection.of("create", "functions", functions)
    yield PlanSection.of("leave out", "functions", (one.words.what for one in left.values()))
    yield PlanSection.of("leave out", "tables", (f"{entry.name} ({entry.reason})" for entry in manifest.left_out))


def _earlier(ports: ReadPorts, policy: Policy, log_id: str) -> Iterator[str]:
    """Yield the tables that an earlier load has made."""
    there = each_table(ports.replica, policy.replica.database)
    return (one.name.table for one in there if is_ours(policy, one, log_id))


def _views(ports: ReadPorts, dump: Dump) -> Iterator[str]:
    records = dump.objects(ports.dump_files, VIEWS)
    return (str(record.table.name) for record in records)
