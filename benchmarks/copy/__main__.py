"""Copy the same files with `twinhive copy` and with DistCp on YARN, in turn, and print what each costs.

    python -m benchmarks.copy --workloads S M L N --runs 5 --threads 8
    python -m benchmarks.copy --workloads S M L --beside ../earlier     # two versions, not DistCp

DistCp has as many maps as we have threads, no limit of bandwidth, the same settings of the client and the same Java.
"""

import argparse
import os
import sys
from pathlib import Path

from rich.console import Console

from benchmarks.copy.cases import WORKLOADS, Case, cases, start_case
from benchmarks.copy.report import calls_by_method, case_table
from benchmarks.copy.running import run_case
from benchmarks.copy.sides import DistCp, OtherVersion, Side, Stage, Twinhive
from benchmarks.measuring import machine
from sandbox import Cluster, Sandbox
from sandbox.hadoop.yarn import NODE_MANAGER
from sandbox.jvm.jars import JAR_LIST, YARN_JAR_LIST, ensure_jars
from sandbox.paths import cache_root
from sandbox.running.own_network import enter
from twinhive.hive.adapters.hdfs.hadoop_client import HadoopClient

_console = Console(width=140, highlight=False)


def main() -> int:
    """Run the cases and print a table of each."""
    given = _arguments()
    _fetch_jars()
    enter("benchmarks.copy", sys.argv[1:])
    box = Sandbox.open(given.instance)
    box.up(NODE_MANAGER)
    stage = Stage(box, _client(box.clusters["east"]), _client(box.clusters["west"]), given.threads)
    try:
        _measure(stage, given)
    finally:
        # Nobody outside this network reaches them.
        if not given.keep:
            box.down()
    sys.stdout.flush()
    # Java's threads may still hold on to what Python would take apart.
    os._exit(0)


def _measure(stage: Stage, given: argparse.Namespace) -> None:
    distcp = DistCp(stage)
    other: Side = OtherVersion(stage, given.beside.resolve()) if given.beside else distcp
    sides: list[Side] = [side for side in (Twinhive(stage), other) if side.name not in given.without]
    _console.print(f"{machine()}; {given.threads} threads or maps, medians of {given.runs}")
    start = run_case(start_case(given.threads), stage, sides, given.runs)
    _console.print(case_table(start, {}, _of_maps(distcp, start.case)))
    for case in cases(given.workloads):
        result = run_case(case, stage, sides, given.runs)
        _console.print(case_table(result, start.sides, _of_maps(distcp, case)))
        for line in calls_by_method(result):
            _console.print(line)


def _fetch_jars() -> None:
    """Fetch what the servers need while there is a way out."""
    for jars in (JAR_LIST, YARN_JAR_LIST):
        ensure_jars(cache_root(), jars)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", nargs="+", default=list(WORKLOADS), choices=WORKLOADS)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=8, help="our threads, and DistCp's maps")
    parser.add_argument("--without", nargs="*", default=[], choices=[Twinhive.name, DistCp.name])
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT", help="not DistCp: the version of this directory")
    parser.add_argument("--instance", default="bench", help="the sandbox to run on")
    parser.add_argument("--keep", action="store_true", help="leave the clusters running")
    return parser.parse_args()


def _client(cluster: Cluster) -> HadoopClient:
    return HadoopClient(cluster.hdfs_uri, cluster.hadoop_properties, cluster.user)


def _of_maps(distcp: DistCp, case: Case) -> dict[str, str]:
    phase = distcp.maps.get(case.name)
    return {f"of the last run, its {phase.count} maps: s": f"{phase.seconds:.2f}"} if phase else {}


if __name__ == "__main__":
    main()
