"""Fail two real clusters over and back at random, two full rounds a history.

    python -m tests.checker.cluster_failovers 50 [FIRST SEED]

One line for each history, then the sums; the exit code is 1 when anything was seen that may not be. A working directory
gets the story of such a history.
"""

import os
import random
import sys
import tempfile
import time
import traceback
import uuid
from collections import Counter
from pathlib import Path

from sandbox import Sandbox
from tests.checker.failover_histories import HOLDER, Sides
from tests.support.policies import PolicyFiles
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.operations.failover.failover import Failover

_ROUNDS = 4
"""Failovers after the first one: A to B, B to A, twice."""


def one_history(box: Sandbox, seed: int, directory: Path) -> Counter[str]:
    """Run one history; return what it has come to. Raises what was seen that may not be."""
    policies, database = PolicyFiles(directory), f"switching_{uuid.uuid4().hex[:8]}"
    east, west = (_users(box, name, database) for name in ("east", "west"))
    SourceWriter.with_database(east.metastore, east.files, database)
    east.create_table("orders", ("p",))
    east.add_partitions("orders", {("1",): {"a": b"one"}, ("a b/c:ü",): {"b": b"two"}})
    east.create_table("plain", files={"f": b"three"})
    policies.add(database, external_tables={"include": False}, failover={"reverse": {}})
    policies.run(database)
    there, back = (policies.wiring(name) for name in (database, f"{database}_back"))
    Failover(there.policy, HOLDER, wait=lambda seconds: None).run(there.write_ports())
    ways = (there.policy, there.write_ports), (back.policy, back.write_ports)
    sides = Sides(random.Random(seed), ways, (east, west))
    for _ in range(_ROUNDS):
        sides.round()
    sides.fail_back()
    return Counter({"histories": 1, **sides.switches})


def _users(box: Sandbox, name: str, database: str) -> SourceWriter:
    cluster = box.clusters[name]
    metastore = ThriftSource([(cluster.metastore_host, cluster.metastore_port)], 60.0, cluster.user)
    return SourceWriter(metastore, HadoopFiles(cluster.hdfs_uri, cluster.hadoop_properties, cluster.user), database)


def main(histories: int, first: int) -> int:
    """Run them all; return the exit code."""
    box = Sandbox.open(os.environ.get("TWINHIVE_SANDBOX", "soak"))
    box.up()
    os.environ.update(box.environment())
    total: Counter[str] = Counter()
    for seed in range(first, first + histories):
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="twinhive-switching-") as directory:
            try:
                found = one_history(box, seed, Path(directory) / "config")
            except Exception as error:
                found = Counter({"histories": 1, "failures": 1})
                story = Path(f"switching-{seed}.txt")
                story.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
                print(f"  went wrong, see {story}: {' '.join(str(error).split())[:300]}", flush=True)
        total += found
        print(f"seed {seed}: {time.monotonic() - began:.0f} s, {_said(found)}", flush=True)
    if not os.environ.get("TWINHIVE_KEEP"):
        box.down()
    print(f"total: {_said(total)}", flush=True)
    return int(bool(total["failures"]))


def _said(found: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in sorted(found.items()))


if __name__ == "__main__":
    code = main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    # Java in this process takes its time to end.
    os._exit(code)
