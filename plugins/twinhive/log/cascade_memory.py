"""Remember what one look behind a window has found out of the changes of columns in later windows.

<dumps of the policy>/cascades.json    written over by each look

What was judged early is judged as well as later: the fewer events have named partitions since, the more partitions
tell. An event is known again by its digest, so that another log's event of the same number never counts.
"""

import json
from collections.abc import Sequence
from typing import Any

from twinhive.dump.event_range import EventRange
from twinhive.dump.store import read_json
from twinhive.log.cascades import JudgedCascades, followed_by_partitions, look_behind
from twinhive.log.event_stream import EventStream
from twinhive.model.changes.kinds import Event
from twinhive.model.files import join
from twinhive.model.policy import Policy
from twinhive.ports import FileReader, WritePorts


def followed_in_window(
    ports: WritePorts, stream: EventStream, event_range: EventRange, events: Sequence[Event], log_id: str
) -> tuple[int, ...]:
    """Return the ids of those changes of columns in a window that the table's partitions have followed.

    What an earlier window has found out is not looked for again.
    """
    policy = stream.policy

    def judge(changes: Sequence[int]) -> dict[int, bool]:
        digests = {row.event_id: row.position.digest for row in event_range.rows}
        known = _remembered(ports.dump_files, policy, log_id)
        if all(digests.get(event_id) and known.get((event_id, digests[event_id])) is not None for event_id in changes):
            return {event_id: known[event_id, digests[event_id]] for event_id in changes}
        judged = look_behind(stream, events, event_range.end)
        _remember(ports, policy, log_id, judged)
        return judged.followed

    return followed_by_partitions(stream, events, event_range.end, judge)


def _remember(ports: WritePorts, policy: Policy, log_id: str, judged: JudgedCascades) -> None:
    behind = [[event_id, digest, judged.followed.get(event_id)] for event_id, digest in judged.digests.items()]
    if later := [one for one in behind if one[2] is not None]:
        content = {"log_id": log_id, "fingerprint": policy.fingerprint, "changes": later}
        ports.dump_files.write(_path(policy), json.dumps(content).encode())


def _remembered(files: FileReader, policy: Policy, log_id: str) -> dict[tuple[int, str], bool]:
    try:
        record: dict[str, Any] = read_json(files, _path(policy)) or {}
        if (record.get("log_id"), record.get("fingerprint")) != (log_id, policy.fingerprint):
            return {}
        return {(event_id, digest): is_followed for event_id, digest, is_followed in record["changes"]}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}  # what cannot be read is looked for again


def _path(policy: Policy) -> str:
    return join(policy.dumps, "cascades.json")
