"""Tell damage from what is on its way: a difference that no event explains is a finding when it is seen a second time.

A file may lie at the source before its event is written, and a write that leaves no event is brought over by the scan.
So a second look counts as one only after the scan has had its turn, and with nothing changed on either side.
"""

import gzip
import json
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass

from twinhive.core.model.errors import Missing
from twinhive.core.model.files import join
from twinhive.core.model.policy import Policy
from twinhive.core.ports import FileReader, FileWriter
from twinhive.core.ports.packed_json import unpack_json
from twinhive.replication.verify.leaf_differences import LeafDifference
from twinhive.replication.verify.ledger_files import verify_directory


@dataclass(frozen=True)
class Suspect:
    """A leaf that was seen to differ, as it was then, and when it was first seen so (seconds since 1970)."""

    table: str
    leaf: str
    mark: str
    since: float


@dataclass(frozen=True)
class Suspicion:
    """What is made of differences: findings, and suspects that are to be looked at again, and when that can be."""

    findings: tuple[LeafDifference, ...]
    suspects: tuple[LeafDifference, ...]
    remembered: tuple[Suspect, ...]

    look_again_at: float | None


def suspicion(
    differences: Iterable[LeafDifference], before: Iterable[Suspect], now: float, second_look_seconds: float
) -> Suspicion:
    """Judge differences by what was remembered of them."""
    known = {(one.table, one.leaf): one for one in before}
    findings: list[LeafDifference] = []
    suspects: list[LeafDifference] = []
    remembered: list[Suspect] = []
    look_again_at: float | None = None
    for one in differences:
        seen = known.get((one.table, one.leaf))
        is_same = seen is not None and seen.mark == one.mark
        # A time in the future is of a clock that was wrong: it puts nothing off.
        since = min(seen.since, now) if seen is not None and is_same else now
        remembered.append(Suspect(one.table, one.leaf, one.mark, since))
        if is_same and now - since >= second_look_seconds:
            findings.append(one)
        else:
            suspects.append(one)
            look_again_at = max(look_again_at or 0.0, since + second_look_seconds)
    return Suspicion(tuple(findings), tuple(suspects), tuple(remembered), look_again_at)


def read_suspects(files: FileReader, policy: Policy) -> list[Suspect]:
    """Return what was seen to differ so far."""
    with suppress(Missing, ValueError, TypeError):
        return [Suspect(*one) for one in unpack_json(files.read(_path(policy)))]
    return []


def write_suspects(
    files: FileWriter, policy: Policy, judged: Collection[str], found: Iterable[Suspect], before: Iterable[Suspect]
) -> None:
    """Remember what differs of the tables that were judged, and of all others what was remembered."""
    kept = [one for one in before if one.table not in judged]
    said = [[one.table, one.leaf, one.mark, one.since] for one in (*kept, *found)]
    files.write(_path(policy), gzip.compress(json.dumps(said).encode(), mtime=0))


def _path(policy: Policy) -> str:
    return join(verify_directory(policy), "suspects.json.gz")
