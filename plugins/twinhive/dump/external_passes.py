"""Keep the passes over a policy's external tables: what each has to sync, and which of its tasks have ended.

<dump root>/<policy>/external/<pass>/external_locations     seed 001's list
                        batches/<name>.json    the directories of one task
                        pass.json              written last: the pass is complete
<staging>/external/results/<pass>/<name>.json     how a task ended
                                  <name>.records  what it has written down of its directories
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from twinhive.dump.claiming import claim_dumps, own_dumps_of
from twinhive.dump.external_locations import decode_locations, encode_locations
from twinhive.dump.json_files import read_json, write_json
from twinhive.model.batches import Batch
from twinhive.model.errors import ActNow
from twinhive.model.external.entries import Entry
from twinhive.model.external.log_point import LogPoint
from twinhive.model.external.tasks import SyncTask
from twinhive.model.files import base_name, join
from twinhive.model.policy import Policy
from twinhive.model.text import Clear
from twinhive.ports import FileReader, FileWriter, children

_NAME = re.compile(r"pass-\d{12,}-[0-9a-f]{8,}")
_KEPT = 2


@dataclass(frozen=True)
class LastSync:
    """What is known of the last sync of a directory before it is looked at.

    synced    its record, None where that has to be looked for
    is_quiet  nobody can ask whether it holds what a later event wants: the pass before has kept the record, no event
              has touched a table of it since, and nothing waits for data. Found equal, it needs no record of that.
    """

    synced: dict[str, Any] | None = None
    is_quiet: bool = False


@dataclass(frozen=True)
class ExternalPass:
    """A complete pass.

    event_id  newest event of the source before it was listed
    began     when the listing began, in seconds since 1970
    batches   its tasks
    entries   how many directories are to be synced, in its own tasks and later ones
    others    how many tasks are left for later passes of the same round
    tried     locations that earlier passes of the round have tried, well or not
    read_at   when all tables were last read at the source, in seconds since 1970
    begin     the event `event_id`, with its log
    end       the newest event when the tables had been read: the list knows of nothing after it. Earlier versions have
              written neither
    in_scope  the newest event up to `event_id` that the replica has to follow; of earlier versions `event_id` itself
    """

    name: str
    event_id: int
    began: float
    batches: tuple[Batch, ...]
    entries: int = 0
    others: int = 0
    tried: frozenset[str] = frozenset()
    fingerprint: str = ""
    read_at: float = 0.0
    begin: LogPoint | None = None
    end: LogPoint | None = None
    in_scope: int = 0


def pass_name(files: FileReader, policy: Policy, event_id: int) -> str:
    """Name a new pass by its event and by its time in seconds, which is after those of all passes before it."""
    last = max(map(_second, _names(files, policy)), default=0)
    return f"pass-{event_id:012d}-{max(int(time.time()), last + 1):08x}"


def write_pass(
    files: FileWriter,
    policy: Policy,
    written: ExternalPass,
    tasks: Iterable[SyncTask],
    entries: Iterable[Entry],
    known: Callable[[str], LastSync] = lambda location: LastSync(),
) -> None:
    """Write a pass, complete with its last file. Raises Foreign where the policy's directory is no place of ours.

    `known` tells of a location's last sync, of which its task need not read then.
    """
    claim_dumps(files, _of_passes(policy))
    directory = join(_directory(policy), written.name)
    files.write(join(directory, "external_locations"), encode_locations(entries))
    for task in tasks:
        wanted = [
            {"key": entry.listed_key, "location": entry.location, **asdict(known(entry.location))}
            for entry in task.entries
        ]
        write_json(files, _task_path(policy, written.name, task.name), {"entries": wanted})
    batches = [{"name": batch.name, "label": batch.label} for batch in written.batches]
    content: dict[str, Any] = {
        "event_id": written.event_id,
        "began": written.began,
        "fingerprint": written.fingerprint,
        "batches": batches,
        "entries": written.entries,
        "others": written.others,
        "tried": sorted(written.tried),
        "read_at": written.read_at,
        "begin": written.begin.fields() if written.begin else None,
        "end": written.end.fields() if written.end else None,
        "in_scope": written.in_scope,
    }
    write_json(files, join(directory, "pass.json"), content)


def newest_pass(files: FileReader, policy: Policy) -> ExternalPass | None:
    """Return the newest complete pass, None without one."""
    for name in reversed(_names(files, policy)):
        record = read_json(files, join(_directory(policy), name, "pass.json"))
        if record is not None:
            return _read(name, record)
    return None


def open_pass(files: FileReader, policy: Policy, name: str) -> ExternalPass:
    """Return a pass. Raises ActNow when it is gone, or was made under another text of the policy."""
    record = read_json(files, join(_directory(policy), name, "pass.json")) if name else None
    if record is None or record["fingerprint"] != policy.fingerprint:
        raise ActNow(
            f"the pass of this task does not count any more (policy {policy.name})",
            found=f"no complete pass {name}" if record is None else "it was made under another text of the policy",
            expected="the newest pass of the policy as it is now",
            next_step=Clear("the task list_external with all tasks after it") + ", or let the next run take over",
        )
    return _read(name, record)


def entries_of_task(files: FileReader, policy: Policy, name: str, task: str) -> tuple[Entry, ...]:
    """Return the directories of one task. Raises ActNow when the pass does not have it."""
    return tuple(known_of_task(files, policy, name, task))


def known_of_task(files: FileReader, policy: Policy, name: str, task: str) -> dict[Entry, LastSync]:
    """Return the directories of one task, each with what the list knew of its last sync. Raises as `entries_of_task`.

    Passes of earlier versions know less.
    """
    record = read_json(files, _task_path(policy, name, task))
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
    return tuple(decode_locations(files.read(join(_directory(policy), name, "external_locations"))))


def remove_old_passes(dumps: FileWriter, replica: FileWriter, policy: Policy, newest: str) -> None:
    """Remove all but the newest pass and the one before it, with their results: a task of that may still run."""
    names = [name for name in _names(dumps, policy) if name != newest]
    owned = own_dumps_of(dumps, _of_passes(policy))
    for name in names[: len(names) - (_KEPT - 1)]:
        if owned is not None:
            owned.discard(join(_directory(policy), name))
    kept = {newest, *names[-(_KEPT - 1) :]}
    for result in _names_in(replica, _results(policy)):
        if result not in kept:
            _remove_results(replica, join(_results(policy), result))


def _remove_results(files: FileWriter, directory: str) -> None:
    for name in _names_in(files, directory):
        files.delete_file(join(directory, name))
    files.delete_file(directory)


def task_has_ended(files: FileWriter, policy: Policy, name: str, task: str, result: dict[str, Any]) -> None:
    """Note that a task of a pass has ended, well or not."""
    write_json(files, join(_results(policy), name, f"{task}.json"), result)


def keep_records(files: FileWriter, policy: Policy, name: str, task: str, records: Sequence[dict[str, Any]]) -> None:
    """Keep together what a task that ends has written down of each directory: the next list need not read them all."""
    write_json(files, _records_path(policy, name, task), {"records": records})


def records_change(files: FileWriter, policy: Policy, name: str, task: str) -> None:
    """Note that a task begins to copy: what the list knew of its directories, or an earlier try has kept, is past."""
    keep_records(files, policy, name, task, ())


def records_have_changed(files: FileReader, policy: Policy, name: str, task: str) -> bool:
    """Tell whether a try of a task has begun to copy, or has kept anything since the pass was listed."""
    return files.status(_records_path(policy, name, task)) is not None


def records_of_pass(files: FileReader, policy: Policy, listed: ExternalPass | None) -> Iterator[dict[str, Any]]:
    """Yield what the tasks of a pass have kept."""
    for batch in listed.batches if listed else ():
        kept = read_json(files, _records_path(policy, listed.name, batch.name)) if listed else None
        yield from kept["records"] if kept else ()


def kept_records(dumps: FileReader, replica: FileReader, policy: Policy) -> Iterator[dict[str, Any]]:
    """Yield what the tasks of all passes that are kept have kept, the newest pass last."""
    for name in _names(dumps, policy):
        written = read_json(dumps, join(_directory(policy), name, "pass.json"))
        yield from records_of_pass(replica, policy, _read(name, written) if written else None)


def tried_in_round(dumps: FileReader, replica: FileReader, policy: Policy) -> frozenset[str]:
    """Return the locations that the next pass leaves out, because the round that it belongs to has tried them.

    A round is as many passes as it takes until each directory was tried once. Without that, those that fail would be
    the first ones of every pass, and bounded passes would never end.
    """
    newest = newest_pass(dumps, policy)
    if newest is None or not newest.others:
        return frozenset()
    ended = {batch.name for batch in newest.batches} & _ended(replica, policy, newest.name)
    entries = (entry for task in ended for entry in entries_of_task(dumps, policy, newest.name, task))
    return newest.tried | {entry.location for entry in entries}


def tasks_under_way(dumps: FileReader, replica: FileReader, policy: Policy) -> int:
    """Count the tasks of the newest pass that have not ended."""
    newest = newest_pass(dumps, policy)
    if newest is None:
        return 0
    return len({batch.name for batch in newest.batches} - _ended(replica, policy, newest.name))


def last_complete_pass(dumps: FileReader, replica: FileReader, policy: Policy) -> float | None:
    """Return when the newest pass began all of whose tasks have ended.

    While none has come to its end, when the oldest one began; None without any.
    """
    began = None
    for name in reversed(_names(dumps, policy)):
        record = read_json(dumps, join(_directory(policy), name, "pass.json"))
        if record is None:
            continue
        began = float(record["began"])
        if {batch["name"] for batch in record["batches"]} <= _ended(replica, policy, name):
            break
    return began


def _ended(replica: FileReader, policy: Policy, name: str) -> set[str]:
    return {result.removesuffix(".json") for result in _names_in(replica, join(_results(policy), name))}


def _read(name: str, record: dict[str, Any]) -> ExternalPass:
    batches = tuple(Batch(batch["name"], batch["label"], ()) for batch in record["batches"])
    counts = record["entries"], record["others"]
    tried = frozenset(record["tried"])
    return ExternalPass(
        name,
        record["event_id"],
        record["began"],
        batches,
        *counts,
        tried,
        record["fingerprint"],
        record["read_at"],
        LogPoint.read(record.get("begin")),
        LogPoint.read(record.get("end")),
        record.get("in_scope", record["event_id"]),
    )


def _names(files: FileReader, policy: Policy) -> list[str]:
    found = (name for name in _names_in(files, _directory(policy)) if _NAME.fullmatch(name))
    return sorted(found, key=_second)


def _second(name: str) -> int:
    return int(name.rpartition("-")[2], 16)


def _names_in(files: FileReader, directory: str) -> list[str]:
    return [base_name(child.path) for child in children(files, directory)]


def _of_passes(policy: Policy) -> Policy:
    """Return the policy with passes and dumps in one directory: a statement has one for all passes."""
    return replace(policy, dump_directory="")


def _directory(policy: Policy) -> str:
    return join(policy.dump_root, policy.name, "external")


def _results(policy: Policy) -> str:
    return join(policy.staging, "external", "results")


def _records_path(policy: Policy, name: str, task: str) -> str:
    return join(_results(policy), name, f"{task}.records")


def _task_path(policy: Policy, name: str, task: str) -> str:
    return join(_directory(policy), name, "batches", f"{task}.json")
