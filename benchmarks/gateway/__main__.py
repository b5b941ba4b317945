"""Ask a metastore directly, through a bare relay and through a gateway, in turn, in one run: what the gateway costs.

python -m benchmarks.gateway --partitions 1000 30000 [--only spark]

West's metastore has a database; east's stands for it, once under the same name and once under another one, which has to
be exchanged in every answer. Two more remotes of east are one that nobody listens for, and one that never answers. The
relay hands bytes on and looks at none: no gateway in Python on this machine can cost less.
"""

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table as Rows

from benchmarks.gateway import made, spark
from benchmarks.gateway.calls import Side, Times, timed
from benchmarks.gateway.crowds import idle, isolation
from benchmarks.measuring import machine
from sandbox import Sandbox
from sandbox.gateway import running_gateway
from sandbox.ports import accepts, free_ports
from tests.support.users.warehouse import Warehouse

_LARGE = 1_000
_console = Console(width=150, highlight=False)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--partitions", type=int, nargs="+", default=[1_000, 30_000])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=6, help="of calls beside bad remotes, and of Spark's queries")
    parser.add_argument("--clients", type=int, default=500)
    parser.add_argument("--only", choices=("calls", "crowds", "spark"), nargs="+", default=["calls", "crowds"])
    parser.add_argument("--instance", default="bench", help="the sandbox to run on")
    parser.add_argument("--keep", action="store_true", help="leave the clusters running")
    given = parser.parse_args()
    os.environ["TWINHIVE_SANDBOX"] = given.instance  # for the processes of Spark too
    box = Sandbox.open()
    box.up()
    os.environ.update(box.environment())
    direct = box.clusters["west"].metastore_port
    uri = f"thrift://127.0.0.1:{direct}"
    with (
        tempfile.TemporaryDirectory() as name,
        socket.create_server(("127.0.0.1", 0), backlog=1_024) as silent,
    ):
        port, between = free_ports(2)
        to_silent = f"thrift://127.0.0.1:{silent.getsockname()[1]}"
        addresses = {made.SAME: uri, made.OTHER: uri, made.DEAD: "thrift://127.0.0.1:1", made.SILENT: to_silent}
        made.fill(Warehouse(box.clusters["west"]), Warehouse(box.clusters["east"]), given.partitions, addresses)
        made.write_config(Path(name), tuple(addresses.values()))
        with (
            running_gateway(Path(name), port, log=Path(name) / "gateway.log") as process,
            _running_relay(direct, between) as relay,
        ):
            _measure(direct, (between, relay), (port, process.pid), given)
    if not given.keep:
        box.down()
    return 0


def _measure(direct: int, relay: tuple[int, int], gateway: tuple[int, int], given: argparse.Namespace) -> None:
    _console.print(machine())
    _console.print(f"{asyncio.run(idle(*gateway, given.clients))}, of a gateway that has just begun")
    if "calls" in given.only:
        _console.print(_compared(direct, relay, gateway, given.partitions, given.runs))
        _console.print("least / median of rounds; extra time by the medians; milliseconds of CPU in relay or gateway")
    if "crowds" in given.only:
        _console.print(asyncio.run(isolation(gateway[0], given.seconds, given.rounds)))
        _console.print(asyncio.run(idle(*gateway, given.clients)))
    if "spark" in given.only:
        spark.fill(made.SAME, direct)
        for line in spark.compare(direct, gateway[0], made.SAME, made.OTHER, given.rounds):
            _console.print(line)
    _console.print(machine())


def _compared(direct: int, relay: tuple[int, int], gateway: tuple[int, int], counts: Sequence[int], runs: int) -> Rows:
    rows = Rows("call, partitions", "bytes", "direct", "relay", "gateway, same name", "gateway, other name")
    for count in counts:
        other = made.messages(made.OTHER, count)
        for what, message in made.messages(made.SAME, count).items():
            sides = [
                Side("direct", direct, message),
                Side("relay", relay[0], message, relay[1]),
                Side("same", gateway[0], message, gateway[1]),
                Side("other", gateway[0], other[what], gateway[1]),
            ]
            is_large = count > _LARGE and "get_partitions" in what
            times, size = timed(sides, max(4, runs // 12) if is_large else runs)
            rows.add_row(what, f"{size:,}", *(_cell(times[side.name], times["direct"]) for side in sides))
    return rows


def _cell(times: Times, direct: Times) -> str:
    shown = f"{times.least:.2f} / {times.median:.2f}"
    if times is direct:
        return shown
    extra = times.median / direct.median - 1
    return f"{shown} ({extra:+.0%}, {times.median - direct.median:+.2f}; CPU {times.cpu_each:.2f})"


@contextmanager
def _running_relay(metastore: int, port: int) -> Iterator[int]:
    command = [sys.executable, "-m", "benchmarks.gateway.relay", str(metastore), str(port)]
    with subprocess.Popen(command) as process:
        try:
            while not accepts(port):
                time.sleep(0.1)
            yield process.pid
        finally:
            process.terminate()


if __name__ == "__main__":
    sys.exit(main())
