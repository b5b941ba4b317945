"""Apply the renames of a snapshot difference at the target, as DistCp does, through a directory beside.

With them goes what was deleted and whose name something else takes; all other deletions come last (`deleting`).
All that is renamed or makes way is first moved aside, what lies deeper first; then the renamed paths are moved
to where they are now, parents first. So a path may take the name of another, also in a circle.

What is moved where is written down before: a run that was killed in between is brought to its end by the next one,
which must not lose what lies aside, nor move anything twice.
"""

import json
from collections.abc import Iterable
from functools import partial
from typing import Any

from twinhive.core.model.errors import ActNow
from twinhive.core.model.files import is_below, join
from twinhive.core.model.untrusted_paths import is_collapsed
from twinhive.core.ports import FileWriter, if_there
from twinhive.transfer.engine.copy_retries import twice
from twinhive.transfer.tree.deleting import put_away
from twinhive.transfer.tree.planning.plan import Plan
from twinhive.transfer.tree.request import Deletes, SyncOptions
from twinhive.transfer.tree.tally import Tally
from twinhive.transfer.tree.work_directories import Places

_Renames = list[list[str]]


def apply_moves(plan: Plan, target: FileWriter, places: Places, options: SyncOptions, stamp: str) -> Tally:
    """Carry out the moves of a plan; return what was deleted, with all below it. Raises what stops them."""
    if not plan.moves:
        return Tally()
    trash = places.trash(stamp) if options.delete is Deletes.TRASH else ""

    def away(number: int, relative: str, goes_on: bool) -> str:
        return join(trash, relative) if trash and not goes_on else _aside(places, number)

    aside = [
        [places.final(move.relative), away(move.number, move.relative, move.target is not None)] for move in plan.moves
    ]
    placed = [[_aside(places, move.number), places.final(move.target or "")] for move in plan.placings]
    gone = [places.final(move.relative) for move in plan.moves if move.target is None]
    deleted = _sizes(target, gone)
    _write(target, _record(places), {"aside": aside, "placed": placed})
    finish_moves(target, places)
    return deleted


def finish_moves(target: FileWriter, places: Places) -> bool:
    """Carry out what is written down, from where a killed run has left it; True when there was something.

    Once everything lies aside, that is written down, too: what has been moved into place is not moved aside again.
    """
    moves = _read(target, _record(places))
    if moves is None:
        return False
    _check(moves, places)
    if moves["aside"]:
        _rename_each(target, moves["aside"])
        _write(target, _record(places), {**moves, "aside": []})
    _rename_each(target, moves["placed"])
    target.delete(_record(places))
    return True


def _rename_each(target: FileWriter, renames: _Renames) -> None:
    for path, place in renames:
        twice(partial(put_away, target, path, place))


def _check(moves: dict[str, _Renames], places: Places) -> None:
    """Raise ActNow when what is written down would move something of another directory."""
    ours = (places.base, places.work)
    for path in (path for renames in moves.values() for pair in renames for path in pair):
        if is_collapsed(path) or not any(path == place or is_below(path, place) for place in ours):
            raise ActNow(
                f"{_record(places)} names a path outside the directory that is copied to",
                found=path,
                expected=f"paths below {places.base}",
                next_step="find out who wrote it; remove it, and run the copy again",
            )


def _sizes(target: FileWriter, paths: Iterable[str]) -> Tally:
    total = Tally()
    for path in paths:
        status = target.status(path)
        if status is not None:
            usage = target.usage(path)
            total += Tally(usage.files, usage.directories + status.is_directory, usage.length)
    return total


def _aside(places: Places, number: int) -> str:
    return join(places.aside, f"{number}")


def _record(places: Places) -> str:
    return join(places.aside, "moves.json")


def _write(target: FileWriter, path: str, content: Any) -> None:
    target.write(path, json.dumps(content).encode("ascii"))


def _read(target: FileWriter, path: str) -> Any:
    content = if_there(target.read, path)
    return None if content is None else json.loads(content)
