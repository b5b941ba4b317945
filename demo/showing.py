"""Show commands as they are typed, run them, and print what they say."""

import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

_console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
_SECONDS = 300.0


@contextmanager
def gateway(*words: str, port: int) -> Iterator[None]:
    """Serve a gateway while the context lasts; `port` answers then."""
    command = ["twinhive", "gateway", *words]
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


@contextmanager
def background(*command: str) -> Iterator[Path]:
    """Run a command while the context lasts; what is yielded is the file of its output."""
    _show([*command, "&"])
    with tempfile.TemporaryDirectory(prefix="twinhive-tour-") as directory:
        output = Path(directory, "output")
        with output.open("wb") as lines, subprocess.Popen(command, stdout=lines, stderr=lines) as process:
            try:
                yield output
            finally:
                process.terminate()


def run(*command: str, only: str = "", refused: bool = False, show: str = "") -> None:
    """Run a command and print the lines that contain a text; `refused`: what is shown is why it cannot be done.

    `show` is how it is typed, where that is nicer to read.
    """
    if show:
        _console.print(f"\n[bold]$[/] {show}", soft_wrap=True)
    else:
        _show([("python" if part == sys.executable else part) for part in command])
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if only in line]
    _console.print("\n".join(lines), markup=False, soft_wrap=True)
    if refused or done.returncode:
        _console.print(done.stderr, markup=False, soft_wrap=True)
    if bool(done.returncode) != refused:
        raise SystemExit(f"the command above has ended with {done.returncode}")
    _console.print(f"[dim]{time.monotonic() - began:.0f} s[/]")


def title(text: str) -> None:
    """Print the title of a chapter."""
    _console.print(f"[bold]{text}[/]")


def look(text: str) -> None:
    """Say what comes next."""
    _console.print(f"\n[cyan]{text}[/]")


def print_lines(text: str) -> None:
    """Print what a program has said."""
    _console.print(text, markup=False, soft_wrap=True)


def say(text: str) -> None:
    """Print a line."""
    _console.print(text, soft_wrap=True)


def verbatim(line: str) -> None:
    """Print a line as it is."""
    _console.print(line, markup=False, soft_wrap=True)


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _show(command: list[str]) -> None:
    text = " ".join(map(_quoted, command))
    _console.print(f"\n[bold]$[/] {text}", soft_wrap=True)


def _quoted(part: str) -> str:
    if part == "&":
        return part
    return f'"{part}"' if "'" in part and not set(part) & set('"$`\\') else shlex.quote(part)
