"""Refuse to go on when the source changed after the dump began.

Folding those changes into the dump is what consolidation is for; until it is built, a dump is
loaded only if it still describes the source.
"""

from itertools import islice

from twinhive.domain.errors import ActNow
from twinhive.domain.events import EventRow
from twinhive.domain.policy import Policy
from twinhive.dump.store import Dump
from twinhive.events.message import names_touched
from twinhive.events.reader import read_events
from twinhive.events.scope import in_scope
from twinhive.ports import MetastoreReader

_EXAMPLES = 3


# What may turn a table that is left out into one that is not.
_MAY_CHANGE_KIND = ("CREATE_TABLE", "ALTER_TABLE")


def _only_on(row: EventRow, left_out: frozenset[str]) -> bool:
    """True for an event that changes nothing but the content of tables that are not replicated."""
    if not row.table or row.event_type in _MAY_CHANGE_KIND:
        return False
    return all(str(name) in left_out for name in names_touched(row))


def refuse_events_since(source: MetastoreReader, dump: Dump, policy: Policy) -> None:
    """Raise ActNow when the log holds an event in the policy's scope after the dump's begin."""
    begin = dump.manifest.begin
    left_out = frozenset(entry.name for entry in dump.manifest.left_out)
    touching = (row for row in read_events(source, begin) if in_scope(row, policy) and not _only_on(row, left_out))
    examples = list(islice(touching, _EXAMPLES))
    if not examples:
        return
    found = ", ".join(
        f"{row.event_id} {row.event_type} {row.database}{'.' + row.table if row.table else ''}" for row in examples
    )
    raise ActNow(
        f"the source of policy {policy.name} changed after the dump {dump.key} began",
        found=f"events in scope: {found}{' and more' if len(examples) == _EXAMPLES else ''}",
        expected=f"no event in scope after {begin.event_id}",
        next_step="pause the writers of this database, then clear the task list_objects with all tasks after it "
        "(files that are staged already and unchanged are not copied again)",
    )
