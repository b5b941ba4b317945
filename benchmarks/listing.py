"""Plan a copy of very many files, made up while they are listed: what planning costs, and that it stays small.

    python -m benchmarks.listing --files 10000000 --directories 10000

Both sides are listed by threads of the same process, which make the statuses: their time is measured alone first.
"""

import argparse
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rich.console import Console
from rich.table import Table

from benchmarks.measuring import machine, measured, rate
from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.hdfs.generated_listing import GeneratedListing, Shape
from twinhive.core.model.files import FileStatus
from twinhive.transfer.tree.path_rule import Layout, Root
from twinhive.transfer.tree.planning.make_plan import make_plan
from twinhive.transfer.tree.request import SyncOptions
from twinhive.transfer.tree.verified_pairs import VerifiedPairs, pair_digest
from twinhive.transfer.tree.work_directories import Places

_SOURCE, _TARGET, _MEMORY = "hdfs://east/d", "hdfs://west/t", "hdfs://west/t/.twinhive/verified/x"
_console = Console(width=120, highlight=False)


@dataclass(frozen=True)
class Case:
    """What the target has of the source, and how both are compared."""

    is_new: bool = False
    different: int = 0
    remembers: bool = False
    options: Mapping[str, str] = field(default_factory=dict)


_BY_TIME = {"compare": "time"}
_CASES = {
    "unchanged, compared by time": Case(options=_BY_TIME),
    "one in a hundred changed": Case(different=100, options=_BY_TIME),
    "all new": Case(is_new=True),
    "unchanged, known as verified": Case(remembers=True),
    "unchanged, known, rbugpct preserved": Case(remembers=True, options={"preserve": "rbugpct"}),
}


def main(arguments: list[str]) -> None:
    """Measure each case and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000_000)
    parser.add_argument("--directories", type=int, default=10_000)
    parser.add_argument("--case", action="append", choices=sorted(_CASES), help="only this one; may be repeated")
    given = parser.parse_args(arguments)
    shape = Shape(given.directories, given.files // given.directories)
    table = Table(title=f"planning {shape.all_files:,} files in {shape.directories:,} directories")
    for heading in ("case", "seconds", "CPU seconds", "files/s of CPU", "without listing", "peak MiB", "lines"):
        table.add_column(heading, justify="left" if heading == "case" else "right")
    listing = _cpu_of_listing(shape)
    table.add_row("listing one side alone", "", f"{listing:.0f}", rate(shape.all_files, listing), "", "", "")
    for name in given.case or _CASES:
        table.add_row(name, *_measure(_CASES[name], shape, listing))
    _console.print(machine())
    _console.print(table)


def _measure(case: Case, shape: Shape, listing: float) -> tuple[str, ...]:
    """Return the cells of one case; `listing` are the CPU seconds that one side's statuses cost."""
    east = GeneratedListing(_SOURCE, replace(shape, different=case.different), longer=True)
    west = GeneratedListing(_TARGET, None if case.is_new else shape)
    root = Root(_directory(east, _SOURCE), "", None if case.is_new else _directory(west, _TARGET))
    layout = Layout(Places(_TARGET, case.is_new), (root,))
    memory = _memory(shape) if case.remembers else None
    began = time.process_time()
    with measured() as taken:
        plan = make_plan(layout, SyncOptions.of(case.options), east, west, memory)  # type: ignore[arg-type]
    cpu = time.process_time() - began
    own = cpu - listing * (1 if case.is_new else 2)
    files = shape.all_files
    with plan:
        cells = (f"{taken.seconds:.0f}", f"{cpu:.0f}", rate(files, cpu), rate(files, own), str(taken.peak_mib))
        return (*cells, f"{plan.changes:,}")


def _directory(files: GeneratedListing, path: str) -> FileStatus:
    found = files.status(path)
    assert found
    return found


def _memory(shape: Shape) -> VerifiedPairs:
    """Return a memory of all pairs, as it is after it was read."""
    pairs, files = VerifiedPairs(), InMemoryFiles("hdfs://west")
    for _, page in GeneratedListing(_SOURCE, shape).list_pages(_paths(shape)):
        pairs.add(pair_digest(status, status.file_id) for status in page or ())
    pairs.save(files, _MEMORY, only_seen=False)
    return VerifiedPairs.load(files, _MEMORY)


def _cpu_of_listing(shape: Shape) -> float:
    began = time.process_time()
    for _ in GeneratedListing(_SOURCE, shape).list_pages(_paths(shape)):
        pass
    return time.process_time() - began


def _paths(shape: Shape) -> list[str]:
    return [f"{_SOURCE}/d{number:08d}" for number in range(shape.directories)]


if __name__ == "__main__":
    main(sys.argv[1:])
