"""On the running demo: how long after its mark a set shows on the replica, beside the lag of its data.

A table of its own in the demo's database gets a partition with a file, and its set is marked at once, again and again.
Airflow's watcher starts the runs; nothing here does.
"""

import os
import time
from collections.abc import Callable
from functools import partial

from benchmarks.measuring import load_average
from benchmarks.sets.scene import metastore_of, show
from sandbox import Sandbox
from tests.support.users.source_writer import SourceWriter
from twinhive.core.model.names import TableName
from twinhive.core.model.sets.set_mark import mark_name, sets_table
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.hive.adapters.hive.hive_metastore import ThriftMetastore
from twinhive.publishing.sets.marking_sets import MarkSet, UnmarkSet

_DATABASE = "flights"
_MOST_SECONDS = 15.0
_PATIENCE = 180.0
_POLL = 0.1


def measure_shown(marks: int) -> None:
    """Print the lag of the data and that of its set."""
    box = Sandbox.open()
    os.environ.update(box.environment())
    east, west = box.clusters["east"], box.clusters["west"]
    source = metastore_of(box)
    replica = ThriftMetastore([(west.metastore_host, west.metastore_port)], 60.0, west.user)
    files = HadoopFiles(east.hdfs_uri, east.hadoop_properties, east.user)
    users = SourceWriter(source, files, _DATABASE)
    table = TableName(_DATABASE, f"measured_{os.getpid()}")
    users.create_table(table.table, ("day",))
    data, sets = [], []
    try:
        for number in range(marks):
            day = str(number)
            users.add_partitions(table.table, {(day,): [b"row %d\n" % number]})
            written = time.monotonic()
            MarkSet(table, f"day={day}", day, "benchmark").run(source)
            marked = time.monotonic()
            came = _wait(partial(_has_data, replica, table, f"day={day}"), f"partition {day}")
            shown = _wait(partial(_has_set, replica, table, f"day={day}"), f"set {day}")
            data.append(came - written)
            sets.append(shown - marked)
            print(f"day {day}: data after {data[-1]:.1f} s, set after {sets[-1]:.1f} s", flush=True)
            time.sleep(1 + 0.37 * (number % 8))  # not always at the same moment of a run
        print(f"load {load_average():.1f}, {marks} marks")
        show("data, from its commit to visible on the replica", data)
        show("set, from its mark to visible on the replica", sets, _MOST_SECONDS)
    finally:
        for number in range(len(sets)):
            UnmarkSet(table, f"day={number}").run(source)
        source.drop_table(table, delete_data=True)


def _has_data(metastore: ThriftMetastore, table: TableName, partition: str) -> bool:
    return metastore.table(table) is not None and partition in metastore.partition_names(table)


def _has_set(metastore: ThriftMetastore, table: TableName, spec: str) -> bool:
    name = mark_name(table.table, spec)
    return bool(metastore.partitions(sets_table(table.database), [name]))


def _wait(happened: Callable[[], bool], what: str) -> float:
    until = time.monotonic() + _PATIENCE
    while not happened():
        if time.monotonic() > until:
            raise SystemExit(f"{what} is not on the replica after {_PATIENCE:.0f} s: is flights.incremental paused?")
        time.sleep(_POLL)
    return time.monotonic()
