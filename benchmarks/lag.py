"""Measure how long a single insert takes from its commit at the source until readers of the replica see it.

Needs the demo (`make demo`): a running Airflow whose watcher starts `<policy>.incremental` by itself.

    python -m benchmarks.lag --inserts 20
"""

import argparse
import os
import statistics
import sys
import time

from sandbox import Sandbox
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from twinhive.core.model.files import base_name
from twinhive.core.model.names import TableName
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.hive.adapters.hive.hive_metastore import ThriftMetastore

_GIVE_UP_SECONDS = 180
_POLL_SECONDS = 0.1


def main() -> int:
    """Insert row by row and print the distribution of the lag."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inserts", type=int, default=20)
    parser.add_argument("--database", default="flights")
    parser.add_argument("--table", default="airlines", help="an unpartitioned text table")
    parser.add_argument("--pause", type=float, default=3.0, help="seconds between two inserts")
    options = parser.parse_args()
    box = Sandbox.open()
    os.environ.update(box.environment())
    east, west = box.clusters["east"], box.clusters["west"]
    source = ThriftSource([(east.metastore_host, east.metastore_port)], 60.0, east.user)
    replica = ThriftMetastore([(west.metastore_host, west.metastore_port)], 60.0, west.user)
    files = HadoopFiles(west.hdfs_uri, west.hadoop_properties, west.user)
    users = SourceWriter(source, HadoopFiles(east.hdfs_uri, east.hadoop_properties, east.user), options.database)
    name = TableName(options.database, options.table)
    lags = []
    for number in range(options.inserts):
        file = f"lag-{os.getpid()}-{number:04d}"
        users.insert(options.table, None, {file: b"ZZ,number %d\n" % number})
        lags.append(_seconds_until_visible(replica, files, name, file))
        print(f"insert {number + 1}: {lags[-1]:.1f} s", flush=True)
        time.sleep(options.pause)
    quantiles = statistics.quantiles(lags, n=20) if len(lags) > 1 else lags * 19
    print(
        f"{len(lags)} inserts: median {statistics.median(lags):.1f} s, p95 {quantiles[-1]:.1f} s, "
        f"least {min(lags):.1f} s, most {max(lags):.1f} s; load average {os.getloadavg()[0]:.1f}"
    )
    sys.stdout.flush()
    os._exit(0)


def _seconds_until_visible(replica: ThriftMetastore, files: HadoopFiles, name: TableName, file: str) -> float:
    committed = time.monotonic()
    while time.monotonic() - committed < _GIVE_UP_SECONDS:
        table = replica.table(name)
        if table is not None and table.location:
            ((_, there),) = files.list_directories([table.location])
            if any(base_name(status.path) == file for status in there or ()):
                return time.monotonic() - committed
        time.sleep(_POLL_SECONDS)
    raise SystemExit(f"{file} did not reach {name} on the replica within {_GIVE_UP_SECONDS} s")


if __name__ == "__main__":
    main()
