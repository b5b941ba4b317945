"""Gather what the section *Sets* of a policy shows: the sets that its replica shows, and those that it holds back."""

from collections.abc import Sequence
from dataclasses import dataclass

from twinhive.operations.journal.journal_reading import JournalReader
from twinhive.operations.journal.records import HeldSets, PolicyState, RecordedSet

MOST_SHOWN, MOST_HELD = 50, 20


@dataclass(frozen=True)
class HeldRow:
    """A set that is held: its table and name, why, what brings it on, and since when."""

    name: str
    why: str
    next_step: str
    since: float


@dataclass(frozen=True)
class SetsPart:
    """How many sets are shown, the newest of them; how many are held, those that are so for the longest."""

    shown: int
    rows: Sequence[RecordedSet]
    held: int
    held_rows: Sequence[HeldRow]


def sets_part(reader: JournalReader, state: PolicyState) -> SetsPart | None:
    """Read what is recorded of a policy's sets; None where there are none."""
    shown, rows = reader.sets(state.policy, MOST_SHOWN)
    held = HeldSets.of_json(state.held_sets) if state.held_sets else HeldSets(0, ())
    if not shown and not held.number:
        return None
    return SetsPart(shown, rows, held.number, [_held(*one) for one in held.named[:MOST_HELD]])


def _held(name: str, why: str, since: float) -> HeldRow:
    reason, _, next_step = why.partition("; next: ")
    return HeldRow(name, reason, next_step, since)
