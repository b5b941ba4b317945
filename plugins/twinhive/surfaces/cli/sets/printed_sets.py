"""Show sets that are done: as rows of a table, and as fields of a document."""

from datetime import UTC, datetime
from typing import Any

from rich.table import Table as Shown

from twinhive.core.model.sets.set_mark import SetMark
from twinhive.publishing.sets.listed_sets import ListedSet, SetStanding
from twinhive.surfaces.cli.terminal import console, escape


def mark_fields(mark: SetMark) -> dict[str, Any]:
    """Return what is known of a mark."""
    return {
        "table": str(mark.table),
        "set": mark.spec,
        "marked": _time(mark.marked),
        "count": mark.count,
        "partitions": mark.partitions,
        "by": mark.by,
        "token": mark.token,
        "note": mark.note,
    }


def listed_fields(one: ListedSet) -> dict[str, Any]:
    """Return a mark, and what it is worth."""
    return {**mark_fields(one.mark), "standing": one.standing.name.lower(), "trouble": one.trouble}


def standing_of(one: ListedSet) -> str:
    """Say what a mark is worth."""
    more = one.trouble or (one.moved_to and str(one.moved_to))
    return f"{one.standing.value}: {more}" if more else one.standing.value


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def print_listed(found: list[dict[str, Any]]) -> None:
    """Print marks as a table."""
    shown = Shown("table", "set", "marked", "times", "partitions", "by", "state", "note")
    for one in found:
        standing = SetStanding[one["standing"].upper()]
        color = "green" if standing is SetStanding.DONE else "yellow"
        state = f"[{color}]{escape(standing.value + (': ' + one['trouble'] if one['trouble'] else ''))}[/]"
        counts = (str(one["count"]), "" if one["partitions"] is None else str(one["partitions"]))
        shown.add_row(
            *map(escape, (one["table"], one["set"], one["marked"], *counts, one["by"] or "")),
            state,
            escape(one["note"] or ""),
        )
    console.print(shown)
