"""Measure how soon sets and partitions are told, how many messages a second, and what a broker's death costs others.

    python -m benchmarks.sets             # a metastore, a broker and a publisher: told, waited for, Hive's listener
    python -m benchmarks.sets shown       # on a running demo (`make demo`): from mark to visible on the replica

The first: a real metastore, a real broker, a publisher in a process of its own that looks once a second, and a
listener. Time from mark, and from added partition, to message; messages a second; the publisher's memory; what 1,000
sensors that wait ask of the metastore. Then the time of the call that adds a partition: with no publisher, with ours,
with ours and a broker that is dead or frozen; and the same, with the same broker, where Hive's own NotificationListener
sends from inside of the metastore (`--no-hive` leaves that out; it needs four jars more).
"""

import argparse
import os
import tempfile
from pathlib import Path

from benchmarks.measuring import machine
from benchmarks.sets.hive_listener import measure_hive
from benchmarks.sets.scene import Scene, metastore_of
from benchmarks.sets.shown import measure_shown
from benchmarks.sets.told import measure_told
from benchmarks.sets.waiting import measure_waiting
from benchmarks.sides import Clusters
from sandbox.ports import free_ports
from tests.support.messages.running_broker import RunningBroker


def main() -> None:
    """Measure, and print one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("told", "shown"), default="told")
    parser.add_argument("--marks", type=int, default=30)
    parser.add_argument("--partitions", type=int, default=3_000)
    parser.add_argument("--sensors", type=int, default=1_000)
    parser.add_argument("--no-hive", action="store_true", help="leave Hive's listener out")
    parser.add_argument("--instance", default="sets", help="the sandbox to run on")
    parser.add_argument("--keep", action="store_true", help="leave the clusters running")
    options = parser.parse_args()
    print(machine(), flush=True)
    if options.what == "shown":
        measure_shown(options.marks)
        return
    clusters = Clusters.start(options.instance)
    directory = Path(tempfile.mkdtemp(prefix="twinhive-sets-"))
    # The broker takes the first free one for STOMP.
    _, openwire = free_ports(2)
    broker = RunningBroker(directory, openwire)
    broker.start()
    try:
        scene = Scene.of(metastore_of(clusters.box), broker, directory, f"sets_{os.getpid()}")
        measure_waiting(scene, options.sensors)
        measure_told(scene, options.marks, options.partitions)
        if not options.no_hive:
            measure_hive(clusters.box, scene, openwire, options.marks, options.partitions)
    finally:
        broker.kill()
        if not options.keep:
            clusters.box.down()


if __name__ == "__main__":
    main()
