"""Gather what the section *Copies* shows: what placements keep on other clusters, as their last runs have found it."""

from collections.abc import Collection
from dataclasses import dataclass

from twinhive.operations.journal.journal_reading import JournalReader
from twinhive.operations.journal.records import RecordedCopies
from twinhive.surfaces.page.judging import Level
from twinhive.surfaces.page.overview import AirflowReader

MOST_COPIES = 200
_SUFFIX = ".copies"


@dataclass(frozen=True)
class CopiesRow:
    """The copies of one table, and how bad it is."""

    copies: RecordedCopies
    level: Level
    state: str


@dataclass(frozen=True)
class CopiesSection:
    """What is shown; `more` are the tables that the list has no room for: the troubled ones come first."""

    rows: tuple[CopiesRow, ...]
    more: int = 0


def copies_section(reader: JournalReader, airflow: AirflowReader, placements: Collection[str]) -> CopiesSection | None:
    """Read what is recorded of those of the placements that still have their DAGs; None where nothing is."""
    known = airflow.standings([f"{name}{_SUFFIX}" for name in placements]) if placements else {}
    found = reader.copies([dag_id.removesuffix(_SUFFIX) for dag_id in known]) if known else []
    if not found:
        return None
    return CopiesSection(tuple(map(_row, found[:MOST_COPIES])), max(0, len(found) - MOST_COPIES))


def _row(copies: RecordedCopies) -> CopiesRow:
    if copies.stale:
        return CopiesRow(copies, Level.WARN, f"stale: {copies.since}")
    if copies.missing:
        return CopiesRow(copies, Level.WARN, "not all is copied")
    if copies.left_out and not copies.fresh:
        return CopiesRow(copies, Level.QUIET, f"left out: {copies.left_out}")
    return CopiesRow(copies, Level.GOOD, "fresh")
