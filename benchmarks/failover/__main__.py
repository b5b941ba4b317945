"""Measure what a failover, a failback, a repair and a proof of equality cost.

`nights` and `counted` ask no server: partitions are made up, or clusters are in memory; calls and bytes are counted.
`timed` starts the sandbox, and says the seconds of failovers between two clusters; `beside` those of Hive's as well.
"""

import argparse
from tempfile import TemporaryDirectory

from benchmarks.failover.beside import beside
from benchmarks.failover.counted import counted
from benchmarks.failover.nights import nights
from benchmarks.failover.timed import timed
from benchmarks.measuring import machine


def main() -> None:
    """Print tables for the documents."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("nights", "counted", "timed", "beside"))
    parser.add_argument("--leaves", type=int, default=1_000_000, help="nights: partitions of all tables together")
    parser.add_argument("--tables", type=int, default=10, help="nights: so many tables")
    parser.add_argument(
        "--partitions", type=int, help="of the table that is failed back; counted: 10,000, beside: 1,000"
    )
    asked = parser.parse_args()
    print(machine())
    if asked.what == "nights":
        with TemporaryDirectory() as kept:
            nights(asked.leaves, asked.tables, kept)
    elif asked.what == "counted":
        counted(asked.partitions or 10_000)
    elif asked.what == "beside":
        beside(asked.partitions or 1_000)
    else:
        timed()


if __name__ == "__main__":
    main()
