"""Keep which sets a replica holds back, why, and since when, for whoever asks: `sets/held.json` in staging.

It is a picture of the last look, no state: every look finds out anew what is held.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass

from twinhive.core.model.errors import Missing
from twinhive.core.model.files import join
from twinhive.core.model.policy import Policy
from twinhive.core.model.sets.set_changes import HeldSet
from twinhive.core.model.text import render
from twinhive.core.ports import FileReader, FileWriter


@dataclass(frozen=True)
class HeldNote:
    """Why a set is held, with the next step, and since when, Unix seconds."""

    why: str
    since: float


def held_notes(files: FileReader, policy: Policy) -> Mapping[str, HeldNote]:
    """Return what is held, by table and set."""
    with suppress(Missing, ValueError, TypeError, AttributeError):
        kept = json.loads(files.read(_path(policy)))
        return {name: HeldNote(**note) for name, note in kept.items()}
    return {}


def held_sets(files: FileReader, policy: Policy) -> Mapping[str, str]:
    """Return what is held: table and set, with the reason and the next step."""
    return {name: note.why for name, note in held_notes(files, policy).items()}


def write_held_sets(
    files: FileWriter, policy: Policy, held: Sequence[HeldSet], clock: Callable[[], float] = time.time
) -> None:
    """Replace the picture, where it is another one; what was held before is so since then."""
    before = held_notes(files, policy)
    now = {f"{one.mark.table.table} {one.mark.spec}": f"{one.why}; next: {render(one.next_step)}" for one in held}
    if now == {name: note.why for name, note in before.items()}:
        return
    if now:
        notes = {name: HeldNote(why, before[name].since if name in before else clock()) for name, why in now.items()}
        text = json.dumps({name: asdict(note) for name, note in notes.items()}, ensure_ascii=False, indent=1)
        files.write(_path(policy), text.encode())
    else:
        files.delete_file(_path(policy))


def _path(policy: Policy) -> str:
    return join(policy.staging, "sets", "held.json")
