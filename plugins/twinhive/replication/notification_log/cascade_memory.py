"""Remember what one look behind a window has found out of the changes of columns in later windows.

<dumps of the policy>/cascades.json    written over by each look

What was judged early is judged as well as later: the fewer events have named partitions since, the more partitions
tell. An event is known again by its digest, so that another log's event of the same number never counts.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from twinhive.core.model.changes.kinds import Event
from twinhive.core.model.files import join
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.dump.json_files import read_json
from twinhive.replication.notification_log.cascades import JudgedCascades, is_change_of_columns, look_behind
from twinhive.replication.notification_log.event_stream import EventStream


def followed_in_window(
    stream: EventStream, event_range: EventRange, events: Sequence[Event], log_id: str | None
) -> tuple[int, ...]:
    """Return the ids of those changes of columns in a window that the table's partitions have followed.

    Of several that came over a partition, only the last one can be told from it: it stands for all. What an earlier
    window of the log has found out is not looked for again; without a log's id nothing is remembered.
    """
    files, policy = stream.ports.dump_files, stream.policy
    changes = [event.event_id for event in events if is_change_of_columns(event.change)]
    known = _remembered(files, policy, log_id) if changes and log_id is not None else {}
    # Without a digest nothing tells an event from another log's.
    digests = {row.event_id: row.position.digest for row in event_range.rows if row.position.digest}
    followed: Mapping[int, bool | None] = {
        one: known.get((one, digests[one])) if one in digests else None for one in changes
    }
    if None in followed.values():
        judged = look_behind(stream, events, event_range.end)
        followed = judged.followed
        if log_id is not None:
            _remember(files, policy, log_id, judged)
    return tuple(event_id for event_id in changes if followed.get(event_id))


def _remember(files: FileWriter, policy: Policy, log_id: str, judged: JudgedCascades) -> None:
    behind = [[event_id, digest, judged.followed.get(event_id)] for event_id, digest in judged.digests.items()]
    if later := [one for one in behind if one[2] is not None]:
        content = {"log_id": log_id, "fingerprint": policy.fingerprint, "changes": later}
        files.write(_path(policy), json.dumps(content).encode())


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
