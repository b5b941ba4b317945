"""Run the sandbox from the command line."""

import json
import logging
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from sandbox.box import Sandbox
from sandbox.errors import SandboxError
from sandbox.hadoop.distcp import run_distcp
from sandbox.hive.peer import HivePeer
from sandbox.running.starting import last_lines

app = typer.Typer(help="Run two real Hive clusters on this machine.", no_args_is_help=True, add_completion=False)
_console = Console()
_errors = Console(stderr=True)
ExtraNames = Annotated[list[str] | None, typer.Argument(help="Servers, or `north`, to start besides the two clusters.")]
Names = Annotated[list[str], typer.Argument(help="Servers, as `status` names them.")]


@contextmanager
def _timed(done: str) -> Iterator[None]:
    logging.getLogger("sandbox").setLevel(logging.INFO)
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    began = time.monotonic()
    with _plain_errors():
        yield
    _console.print(f"{done} in {time.monotonic() - began:.1f} s", highlight=False)


@contextmanager
def _plain_errors() -> Iterator[None]:
    try:
        yield
    except SandboxError as error:
        _errors.print(str(error), style="red", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(1) from None


@app.command()
def up(names: ExtraNames = None) -> None:
    """Start both clusters."""
    with _timed("up"):
        Sandbox.open().up(*(names or []))


@app.command()
def down() -> None:
    """End all servers; what they stored stays."""
    with _timed("down"):
        Sandbox.open().down()


@app.command()
def reset() -> None:
    """End all servers and delete what they stored."""
    with _timed("deleted"):
        Sandbox.open().reset()


@app.command()
def start(names: Names) -> None:
    """Start single servers."""
    with _timed("started"):
        for name in names:
            Sandbox.open().start(name)


@app.command()
def stop(names: Names) -> None:
    """End single servers in order."""
    with _timed("stopped"):
        for name in names:
            Sandbox.open().stop(name)


@app.command()
def kill(names: Names) -> None:
    """End single servers at once, as a crash would."""
    with _timed("killed"):
        for name in names:
            Sandbox.open().kill(name)


@app.command()
def env() -> None:
    """Print the connections as shell exports."""
    with _plain_errors():
        for name, value in Sandbox.open().environment().items():
            print(f"export {name}={shlex.quote(value)}")


@app.command()
def logs(name: Annotated[str, typer.Argument(help="A server, as `status` names it.")]) -> None:
    """Print the end of a server's log files, with their paths."""
    with _plain_errors():
        print(last_lines(name, Sandbox.open().layout))


@app.command()
def peer(
    cluster: Annotated[str, typer.Argument(help="east or west")],
    statements: Annotated[list[str], typer.Argument(help="Hive statements, run in one session.")],
    settings: Annotated[list[str] | None, typer.Option("--set", help="A Hive setting, NAME=VALUE.")] = None,
    metastore: Annotated[str | None, typer.Option(help="A gateway to ask, thrift://host:port.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Run Hive's own statements, such as REPL DUMP, on one cluster."""
    asked = {} if metastore is None else {"hive.metastore.uris": metastore, "metastore.thrift.uris": metastore}
    with _plain_errors():
        told = {**asked, **dict(setting.split("=", 1) for setting in settings or [])}
        session = HivePeer(Sandbox.open(), cluster, told)
        results = [session.run(statement) for statement in statements]
    if as_json:
        print(json.dumps([asdict(result) for result in results]))
        return
    for result in results:
        for row in [result.columns, *result.rows]:
            print("\t".join(row))
        print(f"{len(result.rows)} rows in {result.seconds:.2f} s")


@app.command(context_settings={"ignore_unknown_options": True})
def distcp(
    cluster: Annotated[str, typer.Argument(help="east or west")],
    arguments: Annotated[list[str], typer.Argument(help="DistCp's own arguments.")],
    yarn: Annotated[bool, typer.Option("--yarn", help="Run on YARN (`up yarn-nodemanager`).")] = False,
    maps: Annotated[int | None, typer.Option(help="How many maps at once, on YARN; 20 unless told.")] = None,
) -> None:
    """Run Hadoop's DistCp as a client of one cluster: on YARN, or with a single map in a process of its own."""
    with _plain_errors():
        run = run_distcp(Sandbox.open(), cluster, arguments, "yarn" if yarn else "local", maps)
    for name, count in run.counters.items():
        print(f"{name}: {count}")
    working = f", {run.maps.seconds:.2f} s of them with {run.maps.count} maps" if run.maps else ""
    print(f"{run.seconds:.2f} s{working}")
    if run.code != 0:
        _errors.print(f"DistCp ended with code {run.code}, see {run.log}", style="red", soft_wrap=True)
        raise typer.Exit(1)


@app.command()
def status(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show every server."""
    with _plain_errors():
        statuses = Sandbox.open().status()
    if as_json:
        print(json.dumps([asdict(entry) for entry in statuses], indent=2))
        return
    table = Table(box=None)
    for heading in ("server", "state", "pid", "ports", "MB", "up", "log"):
        table.add_column(heading, no_wrap=True)
    for entry in statuses:
        ports = " ".join(f"{name}:{port}" for name, port in entry.ports.items())
        cells = [entry.server, entry.state, str(entry.pid or ""), ports, str(entry.memory_megabytes or "")]
        table.add_row(*cells, _duration(entry.uptime_seconds), entry.log)
    total = sum(entry.memory_megabytes for entry in statuses)
    table.add_row("total", "", "", "", str(total), "", "")
    # As wide as its content: a cut path to a log file is of no use.
    width = _console.measure(table, options=_console.options.update(width=400)).maximum
    Console(width=max(_console.width, width)).print(table)


def _duration(seconds: int) -> str:
    hours, rest = divmod(seconds, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if seconds else ""
