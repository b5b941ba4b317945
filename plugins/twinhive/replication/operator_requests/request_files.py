"""Read and write what people ask of a policy: files in the replica's staging directory, one per request.

They need no lease, so that they can be written while a run is under way; the next run obeys them.
"""

import json
import re
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import Missing
from twinhive.core.model.file_names import is_altered
from twinhive.core.model.files import FileStatus, base_name, join
from twinhive.core.model.marks import SKIPPED
from twinhive.core.model.next_steps import command
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Text, commands_of, render
from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.dump.json_files import read_json, write_json
from twinhive.replication.dump.named_files import NamedFiles

_SKIP = re.compile(r"(\d+)\.json")


@dataclass(frozen=True)
class SkipRequest:
    """An event that a person wants passed over: of which log, and which of its events.

    `log_id` is '', and the position an id alone, where nobody could read the row.
    """

    reason: str
    position: Position
    log_id: str = ""

    def means(self, log_id: str, found: Position) -> bool:
        """True unless the event that a log has at this id is known to be another one."""
        if self.log_id and self.log_id != log_id:
            return False
        return not (self.position.digest and found.digest) or self.position == found


def _directory(policy: Policy) -> str:
    return join(policy.staging, "control")


def is_paused(files: FileReader, policy: Policy) -> Text | None:
    """Return why a policy is paused, None when it is not."""
    if forgetting_has_begun(files, policy):
        return "the policy is being forgotten; end it with: " + command("twinhive", "forget", policy.name)
    path = join(_directory(policy), "paused.json")
    try:
        found = read_json(files, path)
    except ValueError:
        found = {}
    if found is None:
        return None
    reason = found.get("reason") if isinstance(found, dict) else None
    return str(reason) if reason else f"{path} is there, and gives no reason that can be read"


def with_way_on(policy: Policy, reason: Text) -> Text:
    """Return why a policy is paused with the command by which it goes on; some reasons name one themselves."""
    way_on = "; it goes on with: " + command("twinhive", "pause", policy.name, "--off")
    return reason if commands_of(reason) else reason + way_on


def paused_policies(files: FileReader, policies: Iterable[Policy]) -> dict[str, str]:
    """Return why policies are paused, those of many that are, by name; their directories are listed in bulk."""
    by_directory = {_directory(policy): policy for policy in policies}
    held = [
        by_directory[directory]
        for directory, children in files.list_directories(by_directory)
        if any(base_name(child.path) in ("paused.json", "forget.json") for child in children or ())
    ]
    reasons = ((policy.name, is_paused(files, policy)) for policy in held)
    return {name: render(reason) for name, reason in reasons if reason is not None}


def policies_with_requests(files: FileReader, policies: Iterable[Policy]) -> frozenset[str]:
    """Return the names of those policies of which tables, or all of them, are to be brought over as they are."""
    by_directory = {
        directory: policy for policy in policies for directory in (_directory(policy), _resyncs(policy).directory)
    }
    return frozenset(
        by_directory[directory].name
        for directory, children in files.list_directories(by_directory)
        if any(_asks(by_directory[directory], directory, child) for child in children or ())
    )


def _asks(policy: Policy, directory: str, child: FileStatus) -> bool:
    """True for a request for everything, or for a table that the policy selects, as far as the file's name tells."""
    if directory == _directory(policy):
        return base_name(child.path) == base_name(_everything(policy))
    name = base_name(child.path).removesuffix(".json")
    return _resyncs(policy).is_one(child) and (is_altered(name) or policy.selects(name))


def pause(files: FileWriter, policy: Policy, reason: str, by: str) -> None:
    """Let no run of the policy begin another window."""
    note = {"reason": reason, "by": by, "since": int(time.time())}
    write_json(files, join(_directory(policy), "paused.json"), note)


def unpause(files: FileWriter, policy: Policy) -> bool:
    """Let runs go on; False when none was held back."""
    return files.delete_file(join(_directory(policy), "paused.json"))


def begin_forgetting(files: FileWriter, policy: Policy) -> None:
    """Note that the replica is given up, so that a second try knows what a first one has begun."""
    write_json(files, join(_directory(policy), "forget.json"), {"since": int(time.time())})


def forgetting_has_begun(files: FileReader, policy: Policy) -> bool:
    """True when the replica is being given up."""
    return files.status(join(_directory(policy), "forget.json")) is not None


def requested_tables(files: FileReader, policy: Policy) -> tuple[str, ...]:
    """Return the tables that are to be brought over as they are (`twinhive resync`).

    A request for one that the policy does not select any more waits until it does again.
    """
    return tuple(table for table in _resyncs(policy).names(files, _table_of_request) if policy.selects(table))


def tables_asked_for(files: FileReader, policy: Policy) -> tuple[str, ...] | None:
    """Return the tables that are to be brought over anew or compared, None for all of them."""
    return None if everything_requested(files, policy) else requested_tables(files, policy)


def request_table(
    files: FileWriter, policy: Policy, table: str, by: str, event_id: int | None = None, *, repairs: bool = False
) -> None:
    """Ask the next window to bring a table over as it is; with an event, if its replica is from before that.

    With `repairs` only those of its partitions and files are touched that are not equal.
    """
    request: dict[str, object] = {"table": table, "by": by, "since": int(time.time())}
    said = request | ({} if event_id is None else {"event": event_id}) | ({"repairs": True} if repairs else {})
    _resyncs(policy).write(files, table, json.dumps(said).encode())


def event_of_request(files: FileReader, policy: Policy, table: str) -> int | None:
    """Return for which event a table is asked for, None for a request that does not depend on one."""
    try:
        request = json.loads(_resyncs(policy).read(files, table))
    except (Missing, ValueError):
        return None
    event_id = request.get("event") if isinstance(request, dict) else None
    return event_id if isinstance(event_id, int) else None


def is_repair(files: FileReader, policy: Policy, table: str) -> bool:
    """True for a table of which only what is not equal is to be touched."""
    try:
        request = json.loads(_resyncs(policy).read(files, table))
    except (Missing, ValueError):
        return False
    return isinstance(request, dict) and request.get("repairs") is True


def table_is_done(files: FileWriter, policy: Policy, table: str) -> None:
    """Take a request away that is fulfilled."""
    _resyncs(policy).remove(files, table)


def request_everything(files: FileWriter, policy: Policy, by: str) -> None:
    """Ask the next window to compare all that the policy selects, and to go on at the source's newest event."""
    write_json(files, _everything(policy), {"id": uuid.uuid4().hex, "by": by, "since": int(time.time())})


def everything_requested(files: FileReader, policy: Policy) -> str:
    """Return the id of the request for everything, '' when nobody has asked; what cannot be read asks for nothing."""
    try:
        request = read_json(files, _everything(policy))
    except ValueError:
        return ""
    found = request.get("id") if isinstance(request, dict) else None
    return found if isinstance(found, str) else ""


def everything_is_done(files: FileWriter, policy: Policy, request: str) -> None:
    """Take a request for everything away that is fulfilled; one that was made since stays."""
    if request and everything_requested(files, policy) == request:
        files.delete_file(_everything(policy))


def skip_requests(files: FileReader, policy: Policy) -> Mapping[int, SkipRequest]:
    """Return the events that a person wants passed over, by their ids.

    A file that is no request, or that cannot be read, asks for nothing.
    """
    ((_, children),) = files.list_directories([join(_directory(policy), "skip")])
    requests = ((_SKIP.fullmatch(base_name(child.path)), child.path) for child in children or ())
    found = ((int(name[1]), path) for name, path in requests if name is not None)
    read = {event_id: _skip_request(files, path, event_id) for event_id, path in found}
    return {event_id: request for event_id, request in read.items() if request is not None}


def skipped_events(files: FileReader, policy: Policy) -> Mapping[int, str]:
    """Return the ids of the events that a person wants passed over, with the reasons, whatever the log has by now."""
    return {event_id: request.reason for event_id, request in skip_requests(files, policy).items()}


def recorded_skips(skipped: Mapping[int, str], end: int) -> dict[str, str]:
    """Return the parameters by which a replica at event `end` says what was passed over."""
    return {f"{SKIPPED}{event_id}": why for event_id, why in skipped.items() if event_id <= end}


def skip_event(
    files: FileWriter,
    policy: Policy,
    event_id: int,
    reason: str,
    by: str,
    event: Position | None = None,
    log_id: str = "",
) -> None:
    """Ask for an event to be passed over: that one of that log, where they are known."""
    said = {} if event is None else {"log_id": log_id, "time": event.time, "digest": event.digest}
    request = {"reason": reason, "by": by, "since": int(time.time()), **said}
    write_json(files, join(_directory(policy), "skip", f"{event_id}.json"), request)


def remove_passed_skips(files: FileWriter, policy: Policy, position: int) -> None:
    """Take away the requests for events up to a position: the replica has recorded those that were obeyed."""
    for event_id in skipped_events(files, policy):
        if event_id <= position:
            files.delete_file(join(_directory(policy), "skip", f"{event_id}.json"))


def _everything(policy: Policy) -> str:
    return join(_directory(policy), "everything.json")


def _resyncs(policy: Policy) -> NamedFiles:
    return NamedFiles(join(_directory(policy), "resync"), ".json")


def _table_of_request(content: bytes) -> str | None:
    """Return the table that a request names, None for one that names none."""
    try:
        request = json.loads(content)
    except ValueError:
        return None
    return request.get("table") if isinstance(request, dict) else None


def _skip_request(files: FileReader, path: str, event_id: int) -> SkipRequest | None:
    try:
        request = read_json(files, path)
    except ValueError:
        return None
    if not isinstance(request, dict) or "reason" not in request:
        return None
    position = Position(event_id, request.get("time") or 0, request.get("digest") or "")
    return SkipRequest(str(request["reason"]), position, request.get("log_id") or "")
