"""Remember up to where sets were looked at, so that a look costs what has changed: `sets/looked.json` in staging.

It saves work and decides nothing: without it, and once an hour, all marks of both sides are read. Where an older look
is written after a newer one, some events are read again.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, field

from twinhive.core.model.changes.events import Position
from twinhive.core.model.errors import Missing
from twinhive.core.model.files import join
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter

Ids = tuple[int | None, int | None]
"""The metastores' ids of a table, at the source and on the replica; None for no table."""


@dataclass(frozen=True)
class Looked:
    """What a look has come to.

    log_id    the source's log
    position  the newest event of it that was read
    whole_at  when all marks were read, Unix seconds
    tables    the ids of the tables that have marks, and of the tables of sets themselves
    open      names of marks that the next look has to judge, whatever has happened
    """

    log_id: str
    position: Position
    whole_at: int
    tables: Mapping[str, Ids] = field(default_factory=dict)
    open: frozenset[str] = frozenset()


def read_looked(files: FileReader, policy: Policy) -> Looked | None:
    """Return what the last look has left, None where there was none, or none that can be read."""
    with suppress(Missing, ValueError, KeyError, TypeError):
        kept = json.loads(files.read(_path(policy)))
        tables = {name: (source, replica) for name, (source, replica) in kept["tables"].items()}
        position = Position(*kept["position"])
        return Looked(kept["log_id"], position, int(kept["whole_at"]), tables, frozenset(kept["open"]))
    return None


def write_looked(files: FileWriter, policy: Policy, looked: Looked) -> None:
    """Keep a look for the next one."""
    kept = {
        "log_id": looked.log_id,
        "position": astuple(looked.position),
        "whole_at": looked.whole_at,
        "tables": dict(looked.tables),
        "open": sorted(looked.open),
    }
    files.write(_path(policy), json.dumps(kept, ensure_ascii=False).encode())


def forget_looked(files: FileWriter, policy: Policy) -> None:
    """Let the next look read all marks of both sides."""
    files.delete_file(_path(policy))


def _path(policy: Policy) -> str:
    return join(policy.staging, "sets", "looked.json")
