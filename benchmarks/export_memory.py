"""Export and import a table of very many files, made up while they are listed: what the process holds at most.

    python -m benchmarks.export_memory --files 5000000

Listing, copying (all copies are staged already), putting together and showing are as they are; only file systems and
metastores are not. What is measured is the memory of this process: `ru_maxrss`, the most that it ever had.
"""

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measuring import machine
from tests.support.worlds.large_exports import LargeExports


def main(arguments: list[str]) -> None:
    """Run both, print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=5_000_000)
    given = parser.parse_args(arguments)
    print(machine(), flush=True)
    print(f"before anything is listed: {peak_mib()} MiB", flush=True)
    with tempfile.TemporaryDirectory() as lists:
        tables = LargeExports(given.files, Path(lists))
        for what, run in (("EXPORT", tables.export), ("IMPORT", tables.import_)):
            began = time.monotonic()
            done = run()
            assert done.files == given.files
            seconds = time.monotonic() - began
            print(f"{what} of {done.files:,} files: {seconds:,.0f} s, peak {peak_mib()} MiB", flush=True)


def peak_mib() -> int:
    """Return the most memory that this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main(sys.argv[1:])
