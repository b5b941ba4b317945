"""After `make demo`: what else there is, chapter by chapter; each command is shown before it is run.

`python -m demo.tour` walks through all chapters, `python -m demo.tour remotes` through one.
"""

import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console

from demo.names import DATABASE
from demo.remote_join import CARRIERS, REMOTE
from sandbox import Sandbox

_console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
_SECONDS = 30.0


def main(chapters: list[str]) -> int:
    """Walk through the chapters that are named, or all."""
    if unknown := [name for name in chapters if name not in CHAPTERS]:
        _console.print(f"there is no chapter {', '.join(unknown)}; there are: {', '.join(CHAPTERS)}")
        return 2
    box = Sandbox.open()
    box.up()
    os.environ.update(box.environment())
    for name in chapters or CHAPTERS:
        began = time.monotonic()
        CHAPTERS[name](box)
        _console.print(f"[dim]chapter {name}: {time.monotonic() - began:.0f} s[/]\n")
    return 0


def remotes(box: Sandbox) -> None:
    """Read west's tables from east, under local names, and join them with east's own."""
    _title("Remotes: read another metastore's tables under local names, without copying them")
    port, status = _free_port(), _free_port()
    west = box.clusters["west"]
    uris = f"'hive.metastore.uris' = 'thrift://{west.metastore_host}:{west.metastore_port}'"
    database = f"CREATE REMOTE DATABASE IF NOT EXISTS {REMOTE} CONNECTED TO {DATABASE} WITH DBPROPERTIES ({uris})"
    table = f"CREATE REMOTE TABLE IF NOT EXISTS {CARRIERS} CONNECTED TO {DATABASE}.airlines WITH TBLPROPERTIES ({uris})"
    with _gateway(port, status):
        _run("twinhive", "sql", "--cluster", "east", database)
        _run("twinhive", "sql", "--cluster", "east", table)
        _look("what each stands for, and whether it answers:")
        _run("twinhive", "remotes", "--cluster", "east")
        _look("Spark asks the gateway as if it were east's metastore; the files are read where they are:")
        _run(sys.executable, "-m", "demo.remote_join", str(port))
        _look("what the gateway was asked, and by whom it had it answered:")
        _run("curl", "-s", f"http://127.0.0.1:{status}/metrics", only="twinhive_gateway_calls_total")
    _look("both are dropped again; nothing happens on west:")
    _run("twinhive", "sql", "--cluster", "east", f"DROP REMOTE TABLE {CARRIERS}; DROP REMOTE DATABASE {REMOTE}")
    _look("more: docs/remotes.md")


CHAPTERS: Mapping[str, Callable[[Sandbox], None]] = {"remotes": remotes}


@contextmanager
def _gateway(port: int, status: int) -> Iterator[None]:
    command = ["twinhive", "gateway", "--cluster", "east", "--port", str(port), "--status-port", str(status)]
    _show([*command, "&"])
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            ends = time.monotonic() + _SECONDS
            while not _answers(port):
                if process.poll() is not None or time.monotonic() > ends:
                    raise SystemExit("the gateway does not start; run the command above to see why")
                time.sleep(0.1)
            yield
        finally:
            process.terminate()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _run(*command: str, only: str = "") -> None:
    _show([("python" if part == sys.executable else part) for part in command])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if only in line]
    _console.print("\n".join(lines), markup=False, soft_wrap=True)
    if done.returncode:
        _console.print(done.stderr, markup=False, soft_wrap=True)
        raise SystemExit(f"the command above has failed with {done.returncode}")


def _show(command: list[str]) -> None:
    text = " ".join(map(_quoted, command))
    _console.print(f"\n[bold]$[/] {text}", soft_wrap=True)


def _quoted(part: str) -> str:
    if part == "&":
        return part
    return f'"{part}"' if "'" in part and not set(part) & set('"$`\\') else shlex.quote(part)


def _title(text: str) -> None:
    _console.print(f"[bold]{text}[/]")


def _look(text: str) -> None:
    _console.print(f"\n[cyan]{text}[/]")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
