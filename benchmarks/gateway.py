"""Ask a metastore directly and through a gateway, alternating, in one run: what the gateway costs.

python -m benchmarks.gateway --partitions 1000 30000

West's metastore has a database; east's stands for it, once under the same name and once under another one, which has to
be exchanged in every answer. Two more remotes of east are one that nobody listens for, and one that never answers.
"""

import argparse
import asyncio
import os
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import yaml
from hive_metastore import ttypes
from rich.console import Console
from rich.table import Table as Rows

from benchmarks.measuring import machine
from sandbox import Sandbox
from sandbox.gateway import running_gateway
from sandbox.ports import free_ports
from tests.support.users.warehouse import Warehouse
from tests.support.wire_messages import request
from twinhive.wire.message import WireMessage
from twinhive.wire.reader import MOST_ANSWER_BYTES, MessageReader

SAME, OTHER, DEAD, SILENT = "gateway_bench", "gateway_bench_far", "gateway_bench_dead", "gateway_bench_silent"
_PER_CALL = 1_000
_console = Console(width=120, highlight=False)
_MILLI = 1_000


class Caller:
    """One connection that sends calls and reads answers to their end."""

    def __init__(self, reader: MessageReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def to(cls, port: int) -> "Caller":
        """Connect to a port of this machine."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
        return cls(MessageReader(reader, MOST_ANSWER_BYTES), writer)

    def close(self) -> None:
        """Hang up."""
        self._writer.close()

    async def seconds(self, message: WireMessage) -> tuple[float, int]:
        """Return how long a call took, and the bytes of its answer."""
        began = time.perf_counter()
        self._writer.write(message.raw)
        answer = await self._reader.read()
        assert answer is not None
        return time.perf_counter() - began, len(answer.raw)


def _table(count: int) -> str:
    return f"parts_{count}"


def fill(west: Warehouse, east: Warehouse, counts: Sequence[int], addresses: dict[str, str]) -> None:
    """Make the tables at west, unless they are there, and the remotes at east."""
    if SAME not in west.client.get_all_databases():
        west.client.create_database(ttypes.Database(name=SAME))
    there = west.client.get_all_tables(SAME)
    for count in counts:
        if _table(count) in there:
            continue
        table = west.create_table(SAME, _table(count), keys=("day",), kind="EXTERNAL_TABLE")
        for first in range(0, count, _PER_CALL):
            numbers = range(first, min(first + _PER_CALL, count))
            west.client.add_partitions([_partition(table, f"d{number:06}") for number in numbers])
    for name, address in addresses.items():
        if name in east.client.get_all_databases():
            east.client.drop_database(name, False, True)
        parameters = {"twinhive_remote": SAME, "hive.metastore.uris": address}
        east.client.create_database(ttypes.Database(name=name, type=ttypes.DatabaseType.REMOTE, parameters=parameters))


def _partition(table: ttypes.Table, value: str) -> ttypes.Partition:
    storage = ttypes.StorageDescriptor(**{**vars(table.sd), "location": f"{table.sd.location}/day={value}"})
    return ttypes.Partition(values=[value], dbName=table.dbName, tableName=table.tableName, parameters={}, sd=storage)


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process, its own and the system's for it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid: int) -> float:
    """Return the memory that a process holds."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _messages(database: str, count: int) -> dict[str, WireMessage]:
    name = f"@hive#{database}"
    asked = ttypes.GetTableRequest(dbName=database, tblName=_table(count), catName="hive")
    return {
        "get_table_req": request("get_table_req", req=asked),
        f"get_partition_names, {count:,}": request(
            "get_partition_names", db_name=name, tbl_name=_table(count), max_parts=-1
        ),
        f"get_partitions, {count:,}": request("get_partitions", db_name=name, tbl_name=_table(count), max_parts=-1),
    }


async def compare(rows: Rows, direct: int, gateway: int, pid: int, counts: Sequence[int], runs: int) -> None:
    """Time each call at all three, one after the other, and add a row for each."""
    at_west, through = await Caller.to(direct), await Caller.to(gateway)
    for count in counts:
        plain, other = _messages(SAME, count), _messages(OTHER, count)
        for what, message in plain.items():
            times: dict[str, list[float]] = {"direct": [], "same": [], "other": []}
            spent = {"same": 0.0, "other": 0.0}
            size = 0
            rounds = max(3, runs // (4 if count > _PER_CALL else 1)) if "get_partitions" in what else runs
            for _ in range(rounds):
                seconds, size = await at_west.seconds(message)
                times["direct"].append(seconds)
                for side, one in (("same", message), ("other", other[what])):
                    before = cpu_seconds(pid)
                    times[side].append((await through.seconds(one))[0])
                    spent[side] += cpu_seconds(pid) - before
            rows.add_row(what, f"{size:,}", *_cells(times, spent, rounds))


def _cells(times: dict[str, list[float]], spent: dict[str, float], rounds: int) -> list[str]:
    best = {side: min(values) * _MILLI for side, values in times.items()}
    middle = {side: statistics.median(values) * _MILLI for side, values in times.items()}
    cells = [f"{best['direct']:.1f} / {middle['direct']:.1f}"]
    for side in ("same", "other"):
        extra = middle[side] / middle["direct"] - 1
        cells.append(f"{best[side]:.1f} / {middle[side]:.1f} ({extra:+.0%}, CPU {spent[side] / rounds * _MILLI:.2f})")
    return cells


async def latencies(port: int, database: str, seconds: float, callers: int) -> list[float]:
    """Return how long small calls take that several clients make one after the other."""
    message = request(
        "get_table_req", req=ttypes.GetTableRequest(dbName=database, tblName="parts_1000", catName="hive")
    )
    ends = time.monotonic() + seconds

    async def call() -> list[float]:
        one, taken = await Caller.to(port), []
        while time.monotonic() < ends:
            taken.append((await one.seconds(message))[0])
        return taken

    return [taken for some in await asyncio.gather(*(call() for _ in range(callers))) for taken in some]


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[18] * _MILLI


async def isolation(port: int, seconds: float) -> str:
    """Return p95 of calls to a good remote, alone and beside 50 clients of a dead and a silent one."""
    alone = await latencies(port, SAME, seconds, 2)
    bad = [asyncio.create_task(latencies(port, name, seconds, 25)) for name in (DEAD, SILENT)]
    beside = await latencies(port, SAME, seconds, 2)
    for task in bad:
        task.cancel()
    await asyncio.gather(*bad, return_exceptions=True)
    extra = _p95(beside) / _p95(alone) - 1
    return f"p95 of a good remote: {_p95(alone):.1f} ms alone, {_p95(beside):.1f} ms beside both ({extra:+.0%})"


async def idle(port: int, pid: int, clients: int) -> str:
    """Return the memory of a gateway with idle clients, each of which has asked once."""
    before = resident_mib(pid)
    callers = [await Caller.to(port) for _ in range(clients)]
    for caller in callers:
        await caller.seconds(request("get_all_databases"))
    held = resident_mib(pid)
    for caller in callers:
        caller.close()
    return f"{clients} idle clients: {held:.0f} MiB, {before:.0f} without them"


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", type=int, nargs="+", default=[1_000, 30_000])
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=500)
    given = parser.parse_args()
    box = Sandbox.open()
    box.up()
    os.environ.update(box.environment())
    west, east = Warehouse(box.clusters["west"]), Warehouse(box.clusters["east"])
    uri = f"thrift://127.0.0.1:{box.clusters['west'].metastore_port}"
    with (
        tempfile.TemporaryDirectory() as name,
        socket.create_server(("127.0.0.1", 0), backlog=1_024) as silent,
    ):
        (port,), silent_port = free_ports(1), silent.getsockname()[1]
        addresses = {SAME: uri, OTHER: uri, DEAD: "thrift://127.0.0.1:1", SILENT: f"thrift://127.0.0.1:{silent_port}"}
        fill(west, east, given.partitions, addresses)
        _write_config(Path(name), tuple(addresses.values()))
        with running_gateway(Path(name), port, log=Path(name) / "gateway.log") as process:
            asyncio.run(_measure(box.clusters["west"].metastore_port, port, process.pid, given))
    return 0


async def _measure(direct: int, port: int, pid: int, given: argparse.Namespace) -> None:
    rows = Rows("call", "bytes", "direct, ms", "gateway, same name, ms", "gateway, other name, ms")
    _console.print(machine())
    _console.print(f"{await idle(port, pid, given.clients)}, of a gateway that has just begun")
    await compare(rows, direct, port, pid, given.partitions, given.runs)
    _console.print(rows)
    _console.print("least / median of the rounds; extra time by the medians; milliseconds of CPU in the gateway")
    steps: list[Callable[[], Awaitable[str]]] = [
        lambda: isolation(port, given.seconds),
        lambda: idle(port, pid, given.clients),
    ]
    for step in steps:
        _console.print(await step())


def _write_config(directory: Path, addresses: tuple[str, ...]) -> None:
    clusters = {
        name: {
            "metastore": {"connection": f"{name}_metastore"},
            "file_system": {"connection": f"{name}_hdfs"},
            "job_tracker": {"connection": f"{name}_spark"},
        }
        for name in ("east", "west")
    }
    (directory / "policies").mkdir()
    (directory / "clusters.yaml").write_text(yaml.safe_dump({"clusters": clusters}))
    allow = [{"connector": "thrift", "addresses": list(dict.fromkeys(addresses))}]
    (directory / "remotes.yaml").write_text(yaml.safe_dump({"allow": allow}))


if __name__ == "__main__":
    sys.exit(main())
