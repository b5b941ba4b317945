"""Keep what only passes over external tables have: what each task has to sync, what came of it, rounds of passes.

<dump root>/<policy>/external/<pass>/external_locations     seed 001's list
                        batches/<name>.json    the directories of one task
                        pass.json              written last: the pass is complete
<staging>/external/results/<pass>/<name>.json     how a task ended
                                  <name>.records  what it has written down of its directories
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import base_name, join
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Clear
from twinhive.core.ports import FileReader, FileWriter, children
from twinhive.replication.dump.dump_layout import DumpKind, as_passes_know, records_path, result_path, results_directory
from twinhive.replication.dump.dump_ownership import claim_dumps
from twinhive.replication.dump.dump_store import (
    ExternalPass,
    dumps_of,
    layout_of_next_pass,
    layout_of_pass,
    newest_pass,
    passes_of,
)
from twinhive.replication.dump.json_files import read_json, write_json
from twinhive.replication.dump.passes.external_entries import Entry
from twinhive.replication.dump.passes.external_locations import decode_locations, encode_locations
from twinhive.replication.dump.passes.pass_manifest import PassManifest
from twinhive.replication.dump.passes.sync_tasks import SyncTask
from twinhive.replication.dump.publishing import remove_passes


@dataclass(frozen=True)
class LastSync:
    """What is known of the last sync of a directory before it is looked at.

    synced    its record, None where that has to be looked for
    is_quiet  nobody can ask whether it holds what a later event wants: the pass before has kept the record, no event
              has touched a table of it since, and nothing waits for data. Found equal, it needs no record of that.
    """

    synced: dict[str, Any] | None = None
    is_quiet: bool = False


def write_pass(
    files: FileWriter,
    policy: Policy,
    manifest: PassManifest,
    tasks: Iterable[SyncTask],
    entries: Iterable[Entry],
    known: Callable[[str], LastSync] = lambda location: LastSync(),
) -> ExternalPass:
    """Write a pass, complete with its last file. Raises Foreign where the policy's directory is no place of ours.

    `known` tells of a location's last sync, of which its task need not read then.
    """
    layout = layout_of_next_pass(files, policy, manifest.event_id)
    claim_dumps(files, as_passes_know(policy))
    files.write(layout.locations, encode_locations(entries))
    for task in tasks:
        wanted = [
            {"key": entry.listed_key, "location": entry.location, **asdict(known(entry.location))}
            for entry in task.entries
        ]
        write_json(files, layout.summary(task.name), {"entries": wanted})
    files.write(layout.manifest, manifest.to_json())
    return ExternalPass(layout, manifest)


def entries_of_task(files: FileReader, policy: Policy, name: str, task: str) -> tuple[Entry, ...]:
    """Return the directories of one task. Raises ActNow when the pass does not have it."""
    return tuple(known_of_task(files, policy, name, task))


def known_of_task(files: FileReader, policy: Policy, name: str, task: str) -> dict[Entry, LastSync]:
    """Return the directories of one task, each with its last sync as the list knew it. Raises as `entries_of_task`."""
    record = read_json(files, layout_of_pass(policy, name).summary(task))
    if record is None:
        raise ActNow(
            f"the pass {name} has no task {task}",
            found="no such file in the directory of the pass",
            expected="the list of directories that list_external has written",
            next_step=Clear("the task list_external with all tasks after it"),
        )
    return {
        Entry.of_listed_key(one["key"], one["location"]): LastSync(one.get("synced"), one.get("is_quiet", False))
        for one in record["entries"]
    }


def locations_of_pass(files: FileReader, policy: Policy, name: str) -> tuple[Entry, ...]:
    """Return seed 001's list of a pass. Raises Missing."""
    return tuple(decode_locations(files.read(layout_of_pass(policy, name).locations)))


def remove_old_passes(dumps: FileWriter, replica: FileWriter, policy: Policy, newest: ExternalPass) -> None:
    """Remove all but the newest pass and the one before it, with their results: a task of that may still run."""
    before = [layout for layout in dumps_of(dumps, policy, DumpKind.EXTERNAL) if layout.name != newest.name]
    remove_passes(dumps, policy, before[:-1])
    kept = (newest.layout, *before[-1:])
    for result in children(replica, results_directory(policy.staging, DumpKind.EXTERNAL)):
        if base_name(result.path) not in {layout.name for layout in kept}:
            _remove_results(replica, result.path)


def _remove_results(files: FileWriter, directory: str) -> None:
    for child in children(files, directory):
        files.delete_file(child.path)
    files.delete_file(directory)


def task_has_ended(files: FileWriter, policy: Policy, name: str, task: str, result: dict[str, Any]) -> None:
    """Note that a task of a pass has ended, well or not."""
    write_json(files, result_path(policy.staging, name, task), result)


def keep_records(files: FileWriter, policy: Policy, name: str, task: str, records: Sequence[dict[str, Any]]) -> None:
    """Keep together what a task that ends has written down of each directory: the next list need not read them all."""
    write_json(files, records_path(policy.staging, name, task), {"records": records})


def records_change(files: FileWriter, policy: Policy, name: str, task: str) -> None:
    """Note that a task begins to copy: what the list knew of its directories, or an earlier try has kept, is past."""
    keep_records(files, policy, name, task, ())


def records_have_changed(files: FileReader, policy: Policy, name: str, task: str) -> bool:
    """Tell whether a try of a task has begun to copy, or has kept anything since the pass was listed."""
    return files.status(records_path(policy.staging, name, task)) is not None


def records_of_pass(files: FileReader, policy: Policy, listed: ExternalPass | None) -> Iterator[dict[str, Any]]:
    """Yield what the tasks of a pass have kept."""
    for batch in listed.manifest.batches if listed else ():
        kept = read_json(files, records_path(policy.staging, listed.name, batch.name)) if listed else None
        yield from kept["records"] if kept else ()


def kept_records(dumps: FileReader, replica: FileReader, policy: Policy) -> Iterator[dict[str, Any]]:
    """Yield what the tasks of all passes that are kept have kept, the newest pass last."""
    for listed in reversed(list(passes_of(dumps, policy))):
        yield from records_of_pass(replica, policy, listed)


def tried_in_round(dumps: FileReader, replica: FileReader, policy: Policy) -> frozenset[str]:
    """Return the locations that the next pass leaves out, because the round that it belongs to has tried them.

    A round is as many passes as it takes until each directory was tried once. Without that, those that fail would be
    the first ones of every pass, and bounded passes would never end.
    """
    newest = newest_pass(dumps, policy)
    if newest is None or not newest.manifest.others:
        return frozenset()
    ended = {batch.name for batch in newest.manifest.batches} - _not_ended(replica, policy, newest)
    entries = (entry for task in ended for entry in entries_of_task(dumps, policy, newest.name, task))
    return newest.manifest.tried | {entry.location for entry in entries}


def tasks_under_way(dumps: FileReader, replica: FileReader, policy: Policy) -> int:
    """Count the tasks of the newest pass that have not ended."""
    newest = newest_pass(dumps, policy)
    return 0 if newest is None else len(_not_ended(replica, policy, newest))


def directories_failed(replica: FileReader, policy: Policy, listed: ExternalPass) -> int:
    """Count the directories that the tasks of a pass could not bring over."""
    tasks = (batch.name for batch in listed.manifest.batches)
    results = (read_json(replica, result_path(policy.staging, listed.name, task)) for task in tasks)
    return sum(int(result.get("failed", 0)) for result in results if result)


def last_complete_pass(dumps: FileReader, replica: FileReader, policy: Policy) -> float | None:
    """Return when the newest pass began all of whose tasks have ended.

    While none has come to its end, when the oldest one began; None without any.
    """
    began = None
    for listed in passes_of(dumps, policy):
        began = float(listed.manifest.began)
        if not _not_ended(replica, policy, listed):
            break
    return began


def _not_ended(replica: FileReader, policy: Policy, listed: ExternalPass) -> set[str]:
    results = children(replica, join(results_directory(policy.staging, DumpKind.EXTERNAL), listed.name))
    ended = {base_name(result.path).removesuffix(".json") for result in results}
    return {batch.name for batch in listed.manifest.batches} - ended
