"""Print the figures of a case as ratios: calls, processor time, wall time."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from rich.table import Table

from benchmarks.copy.cases import Case
from benchmarks.copy.figures import Figures
from benchmarks.copy.running import Result
from benchmarks.copy.workloads import Workload

_LARGE_BYTES = 1_000_000
_COMMON_CALLS = 14


@dataclass(frozen=True)
class Row:
    """One figure: how it is called, how it is computed, how many digits it deserves."""

    title: str
    value: Callable[[Figures], float]
    digits: int = 2


def case_table(result: Result, start: dict[str, Figures], extra: dict[str, str]) -> Table:
    """Lay out both sides, their ratio and the floor; `extra` is a last row of texts by column."""
    names = list(result.sides)
    columns = {**result.sides, **result.floors}
    table = Table("", *names, "ratio", *result.floors, title=str(result.case), title_justify="left")
    for row in _rows(result):
        values = {name: row.value(figures) for name, figures in columns.items()}
        _add(table, row, values, names)
    if start:
        for row in (
            _clients(result, ", without start-up"),
            Row("wall, without start-up: s", lambda figures: figures.wall),
        ):
            values = {name: row.value(result.sides[name]) - row.value(start[name]) for name in names}
            _add(table, row, values, names)
    for title, text in extra.items():
        table.add_row(title, *["" for _ in names[1:]], text)
    loads = (f"{figures.load:.1f}" for figures in columns.values())
    table.add_row("load average at the end", *_cells(list(columns), dict(zip(columns, loads, strict=True)), names))
    return table


def calls_by_method(result: Result) -> list[str]:
    """Say which calls there were, most frequent first: per file, or all of them when little was copied."""
    _, divisor = _calls_unit(result.case)
    return [
        f"{name}, {side}: {_listed(calls, divisor)}"
        for name, figures in result.sides.items()
        for side, calls in figures.calls.items()
    ]


def _rows(result: Result) -> list[Row]:
    unit, units = _unit(result.case.workload)
    per, divisor = _calls_unit(result.case)
    return [
        Row(f"calls on the source{per}", lambda figures: figures.calls["source"].total() / divisor),
        Row(f"calls on the target{per}", lambda figures: figures.calls["target"].total() / divisor),
        _clients(result),
        Row(f"CPU of both HDFS: {unit}", lambda figures: figures.hdfs / units),
        Row(f"CPU of YARN's servers: {unit}", lambda figures: figures.yarn / units),
        Row(f"CPU of all: {unit}", lambda figures: (figures.clients + figures.hdfs + figures.yarn) / units),
        Row("wall: s", lambda figures: figures.wall),
    ]


def _calls_unit(case: Case) -> tuple[str, int]:
    return ("", 1) if case.is_update else (", per file", case.workload.files)


def _clients(result: Result, what: str = "") -> Row:
    unit, units = _unit(result.case.workload)
    return Row(f"CPU of the clients{what}: {unit}", lambda figures: figures.clients / units)


def _unit(workload: Workload) -> tuple[str, float]:
    """Return what processor time is given for, and how much of it there is."""
    if workload.bytes_each >= _LARGE_BYTES:
        return "s per GB", workload.bytes / 1e9
    return ("s per 1,000 files", workload.files / 1000) if workload.files >= 1000 else ("s", 1.0)


def _add(table: Table, row: Row, values: dict[str, float], names: list[str]) -> None:
    texts = {name: f"{value:,.{row.digits}f}" for name, value in values.items()}
    texts["ratio"] = _ratio(values, names)
    table.add_row(row.title, *_cells(list(values), texts, names))


def _cells(columns: list[str], texts: dict[str, str], names: list[str]) -> list[str]:
    """Order the cells as the columns are: the sides, their ratio, the floors."""
    return [texts.get(name, "") for name in [*names, "ratio", *(name for name in columns if name not in names)]]


def _ratio(values: dict[str, float], names: list[str]) -> str:
    if len(names) < 2 or values[names[1]] <= 0:
        return ""
    return f"{values[names[0]] / values[names[1]]:.2f}"


def _listed(calls: Counter[str], divisor: int) -> str:
    common = calls.most_common(_COMMON_CALLS)
    digits = 0 if divisor == 1 else 2
    return ", ".join(f"{name} {count / divisor:.{digits}f}" for name, count in common if count) or "none"
