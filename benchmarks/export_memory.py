"""List, export and import very many files, made up while they are listed: what the process holds at most.

    python -m benchmarks.export_memory --files 5000000
    python -m benchmarks.export_memory --files 5000000 --only IMPORT

A placement's list of copies of 1,000 partitions, then EXPORT and IMPORT of a table that has all files in one directory.
Listing, copying (all copies are staged already), putting together and showing are as they are; only file systems and
metastores are not. What is measured is the memory of this process: `ru_maxrss`, the most that it ever had. With
`--most-mib` it fails when that is more. The most that a process ever had does not go down: with `--only` it does one
of the three alone; what is imported was an export of 1,000 files, whose directory has all of them afterwards.
"""

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.measuring import machine
from tests.support.hdfs.many_files import ManyFiles
from tests.support.worlds.copies_world import a_placement
from tests.support.worlds.large_exports import LargeExports
from twinhive.core.model.changes.events import Position
from twinhive.core.model.names import TableName
from twinhive.core.model.placement.copy_marks import DirectoryState
from twinhive.federation.placement.copied_objects import CopyObject
from twinhive.federation.placement.copy_lists import write_list


def main(arguments: list[str]) -> None:
    """Run both, print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=5_000_000)
    parser.add_argument("--most-mib", type=int)
    parser.add_argument("--only", choices=("list of copies", "EXPORT", "IMPORT"))
    given = parser.parse_args(arguments)
    print(machine(), flush=True)
    print(f"before anything is listed: {peak_mib()} MiB", flush=True)
    with tempfile.TemporaryDirectory() as lists:
        tables = LargeExports(given.files, Path(lists))
        runs: dict[str, Callable[[], object]] = {
            "list of copies": partial(listed, given.files, Path(lists)),
            "EXPORT": tables.export,
            "IMPORT": tables.import_,
        }
        if given.only is not None:
            runs = {given.only: runs[given.only]}
        if given.only == "IMPORT":
            tables.hold(1_000)
            tables.export()
            tables.hold(given.files)
        for what, run in runs.items():
            began = time.monotonic()
            run()
            seconds = time.monotonic() - began
            print(f"{what} of {given.files:,} files: {seconds:,.0f} s, peak {peak_mib()} MiB", flush=True)
    if given.most_mib is not None and peak_mib() > given.most_mib:
        sys.exit(f"{peak_mib()} MiB are more than {given.most_mib}")


def listed(files: int, lists: Path) -> None:
    """Write a placement's list of 1,000 partitions that have all files together."""
    source, target = (ManyFiles(root, files // 1000, lists) for root in ("hdfs://east", "hdfs://north"))
    name, state = TableName("sales", "big"), DirectoryState(1, 1)
    places = {str(day): f"hdfs://east/warehouse/big/{day}/data" for day in range(1000)}
    for place in places.values():
        source.make_directories(place)
    objects = [CopyObject(name, ("day",), (day,), place, state) for day, place in places.items()]
    made = write_list(source, target, a_placement(options={"batch_objects": 2000}), "log", Position(1, 1, ""), objects)
    assert sum(batch.files for batch in made.batches) == files


def peak_mib() -> int:
    """Return the most memory that this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main(sys.argv[1:])
