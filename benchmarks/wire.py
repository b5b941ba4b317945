"""Read and rename metastore messages, without servers: processor time of each piece of work, the best of several runs.

python -m benchmarks.wire --partitions 1000 30000
"""

import argparse
import sys
import time
from collections.abc import Callable

from hive_metastore.ttypes import (
    FieldSchema,
    GetTableRequest,
    GetTableResult,
    Partition,
    SerDeInfo,
    StorageDescriptor,
    Table,
)
from rich.console import Console
from rich.table import Table as Rows
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.transport.TTransport import TMemoryBuffer

from benchmarks.measuring import machine
from tests.support.wire.wire_messages import answer, decoded, encoded, request, struct_class
from twinhive.hive.wire.message_renaming import NAMES, names_of, renamed, rewritten
from twinhive.hive.wire.method_table import LIST, STRUCT
from twinhive.hive.wire.renamed_chunks import renamed_pieces
from twinhive.hive.wire.renames import Renames
from twinhive.hive.wire.thrift_message import STOP, WireMessage, reply
from twinhive.hive.wire.thrift_skip import end_of

_ASKED = Renames({"flights_west": "flights"})
_console = Console(width=120, highlight=False)


def _storage() -> StorageDescriptor:
    columns = [FieldSchema(f"column_{number}", "string", "a comment") for number in range(20)]
    serde = SerDeInfo("t", "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", {"serialization.format": "1"})
    formats = "org.apache.hadoop.mapred.TextInputFormat", "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"
    return StorageDescriptor(columns, "hdfs://west/warehouse/flights.db/t/day=1", *formats, serdeInfo=serde)


def _partitions(count: int) -> WireMessage:
    part = Partition(["1"], "flights", "t", 1, 1, _storage(), {"numFiles": "1", "totalSize": "100", "numRows": "-1"})
    body = bytes((LIST, 0, 0, STRUCT)) + count.to_bytes(4) + encoded(part) * count + STOP
    return reply("get_partitions", 1, body)


def _seconds(work: Callable[[], object], runs: int) -> float:
    best = float("inf")
    for _ in range(5):
        began = time.process_time()
        for _ in range(runs):
            work()
        best = min(best, (time.process_time() - began) / runs)
    return best


def _with_bindings(message: WireMessage) -> None:
    """Let Thrift's C code do both, as a server made of the bindings would."""
    buffer = TMemoryBuffer()
    decoded(struct_class(message), message.body).write(TBinaryProtocolAccelerated(buffer, fallback=False))


def _measure(rows: Rows, name: str, message: WireMessage, runs: int) -> None:
    renames = _ASKED.back if message.head.kind == 2 else _ASKED
    work: dict[str, Callable[[], object]] = {
        "find its end": lambda: end_of(message.raw, message.at),
        "names in it": lambda: names_of(message),
        "rename": lambda: renamed(message, renames),
        "rename, in pieces": lambda: list(renamed_pieces(message, renames)),
        "rename, walking": lambda: rewritten(message, renames.change, NAMES),
        "decode and encode with the bindings": lambda: _with_bindings(message),
    }
    for what, one in work.items():
        rows.add_row(name, f"{len(message.raw):,}", what, f"{_seconds(one, runs) * 1000:,.3f}")


def main() -> int:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", type=int, nargs="+", default=[1_000, 30_000])
    given = parser.parse_args()
    rows = Rows("message", "bytes", "work", "ms of CPU")
    asked = request("get_table_req", req=GetTableRequest(dbName="@hive#flights_west", tblName="t", catName="hive"))
    _measure(rows, "call of get_table_req", asked, 1_000)
    table = Table("t", "flights", "owner", 1, 1, 0, _storage(), parameters={f"key{number}": "1" for number in range(9)})
    _measure(rows, "its answer", answer("get_table_req", GetTableResult(table=table)), 1_000)
    for count in given.partitions:
        _measure(rows, f"{count:,} partitions", _partitions(count), max(1, 3_000 // count))
    _console.print(machine())
    _console.print(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
