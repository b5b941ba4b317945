"""Rehearse what ends with a loaded dump: the bootstrap, and a round of consolidating."""

from collections.abc import Iterator

from twinhive.bootstrap.function_check import left_out
from twinhive.bootstrap.list_objects import ListObjects
from twinhive.bootstrap.open_replica import built_directories
from twinhive.bootstrap.preflight import Preflight
from twinhive.bootstrap.round import Round
from twinhive.dry_run.phase_plan import PhasePlan, PlanSection
from twinhive.dry_run.rehearsing import Rehearsing
from twinhive.dump.layout import VIEWS
from twinhive.dump.shards import decode_objects
from twinhive.dump.store import Dump, dump_of_key
from twinhive.ports import ReadPorts


def rehearse_bootstrap(rehearsing: Rehearsing) -> PhasePlan:
    """Check both clusters and list the source; sizes are those of directories, no file is listed."""
    ports = rehearsing.ports
    preflight = Preflight(rehearsing.work(), again=rehearsing.again)
    if problems := preflight.problems(ports):
        return rehearsing.plan(refusals=tuple(problems))
    checked = preflight.start(ports)
    if checked.already:
        return rehearsing.plan(nothing=checked.already)
    listed = ListObjects(rehearsing.work()).run(ports)
    dump = dump_of_key(ports.dump_files, rehearsing.policy, listed.dump)
    sizes = {"files": checked.files_to_copy, "length": checked.bytes_to_copy}
    copied = PlanSection.of("copy", "batches", (batch.label for batch in listed.batches), **sizes)
    return _loaded(rehearsing, dump, copied)


def rehearse_consolidate(rehearsing: Rehearsing) -> PhasePlan:
    """Fold the log into a dump that is only pretended, and see which of its batches are not copied yet."""
    ports, policy = rehearsing.ports, rehearsing.copying_nothing
    folded = Round(rehearsing.work(policy=policy)).run(ports)
    if folded.already:
        return rehearsing.plan(nothing=folded.already)
    dump = dump_of_key(ports.dump_files, policy, folded.dump)
    return _loaded(rehearsing, dump, rehearsing.copies(dump, folded.batches), events=folded.events)


def _loaded(rehearsing: Rehearsing, dump: Dump, copied: PlanSection, events: int = 0) -> PhasePlan:
    """Return the plan of a dump that is copied, and at last loaded."""
    slices = [slice_ for batch in dump.manifest.batches for slice_ in batch.slices]
    tables = sorted({str(slice_.table) for slice_ in slices})
    partitions = sum(slice_.last - slice_.first for slice_ in slices)
    return rehearsing.plan(
        tables=len(tables),
        partitions=partitions,
        files=copied.files,
        bytes=copied.bytes,
        events=events,
        sections=(copied, *_published(rehearsing, dump, tables, partitions)),
    )


def _published(rehearsing: Rehearsing, dump: Dump, tables: list[str], partitions: int) -> Iterator[PlanSection]:
    ports, manifest, address = rehearsing.ports, dump.manifest, rehearsing.policy.replica
    if ports.replica.database(address.database) is None:
        yield PlanSection.of("create", "databases", [str(address)])
    else:
        yield PlanSection.of("alter", "databases", [str(address)])
        yield PlanSection.of("drop", "tables of an earlier load", ports.replica.table_names(address.database))
        yield PlanSection.of("remove", "directories of an earlier load", built_directories(ports, rehearsing.policy))
    yield PlanSection.of("remove", "older dumps and events", rehearsing.removed_below(rehearsing.policy.dumps))
    yield PlanSection.of("create", "tables", tables)
    yield PlanSection("create", "partitions", partitions)
    yield PlanSection.of("create", "views", _views(ports, dump))
    left = left_out(ports.source_files, rehearsing.policy, manifest.functions)
    functions = (function.name for function in manifest.functions if function.name not in left)
    yield PlanSection.of("create", "functions", functions)
    yield PlanSection.of("leave out", "functions", (str(one.what) for one in left.values()))
    yield PlanSection.of("leave out", "tables", (f"{entry.name} ({entry.reason})" for entry in manifest.left_out))


def _views(ports: ReadPorts, dump: Dump) -> Iterator[str]:
    records = decode_objects(ports.dump_files.read(dump.layout.objects(VIEWS)))
    return (str(record.table.name) for record in records)
