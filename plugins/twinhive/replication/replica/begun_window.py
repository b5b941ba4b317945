"""Know how far the newest window would bring a replica that was begun: a small file in staging, written before it is.

While its end is after the replica's position, that window was not ended, and may be there in part: objects may bear
stamps of events after the position. Else nothing does, and nobody has to read the stamps of a million partitions.
"""

from twinhive.core.model.files import join
from twinhive.core.model.marks import ReplicaState
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter
from twinhive.replication.dump.json_files import read_json, write_json


def note_begun_window(files: FileWriter, policy: Policy, end: int) -> None:
    """Write down that events up to `end` are about to be applied."""
    write_json(files, _path(policy), {"end": end})


def may_be_ahead(files: FileReader, policy: Policy, state: ReplicaState) -> bool:
    """Tell whether something of the replica may be newer than its position; True too where nothing was written down."""
    try:
        found = read_json(files, _path(policy))
        return found is None or int(found["end"]) > state.position.event_id
    except (ValueError, KeyError, TypeError):
        return True


def _path(policy: Policy) -> str:
    return join(policy.staging, "control", "window.json")
