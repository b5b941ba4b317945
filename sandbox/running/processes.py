"""Start, find and end server processes by process id, never by name."""

import json
import os
import pwd
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sandbox.server import Launch

OUTPUT_LIMIT = 5_000_000
_KILL_ROUNDS = 3
_ROLLING_OUTPUT = Path(__file__).with_name("rolling_output.py")
_MARK = "TWINHIVE_SERVER"
# What must not leak from the caller's shell into a server.
_DROPPED = ("HADOOP_", "HIVE_", "SPARK_", "AIRFLOW", "PYTHON", "CLASSPATH", "JAVA_HOME", "PG")


@dataclass(frozen=True)
class ProcessRecord:
    """Identify a process beyond its id, which the system gives out again."""

    pid: int
    start_ticks: int
    boot_id: str
    started_at: float


@dataclass(frozen=True)
class ProcessEntry:
    """Be one line of the process table."""

    pid: int
    parent: int
    session: int
    start_ticks: int


def server_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's environment without settings of other installations, plus `extra`."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(_DROPPED)}
    return {**kept, **extra}


def spawn(launch: Launch, pid_file: Path, output: Path) -> subprocess.Popen[bytes]:
    """Start a server in a session of its own, with its output in a capped file."""
    environment = server_environment({**launch.environment, _MARK: str(pid_file)})
    roller_command = [sys.executable, "-I", "-S", str(_ROLLING_OUTPUT), str(output), str(OUTPUT_LIMIT)]
    output.write_bytes(b"")
    # Nothing of the caller's may be held open: `make up | tail` would wait for ever.
    roller = subprocess.Popen(
        roller_command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    assert roller.stdin
    process = subprocess.Popen(
        launch.command,
        stdin=subprocess.DEVNULL,
        stdout=roller.stdin,
        stderr=subprocess.STDOUT,
        env=environment,
        cwd=launch.directory or "/",
        start_new_session=True,
        **identity(launch.user),
    )
    roller.stdin.close()
    _write_record(pid_file, process.pid)
    return process


def identity(user: str | None) -> dict[str, Any]:
    """Return the arguments that make `subprocess` run a program as `user`."""
    if user is None:
        return {}
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _write_record(pid_file: Path, pid: int) -> None:
    record = ProcessRecord(pid, start_ticks(pid) or 0, _boot_id(), time.time())
    temporary = pid_file.with_suffix(".new")
    temporary.write_text(json.dumps(asdict(record)))
    temporary.replace(pid_file)


def read_record(pid_file: Path) -> ProcessRecord | None:
    """Return the recorded process if it still lives and is the same one."""
    record = _stored_record(pid_file)
    if record is None or start_ticks(record.pid) != record.start_ticks:
        return None
    return record


def _stored_record(pid_file: Path) -> ProcessRecord | None:
    try:
        record = ProcessRecord(**json.loads(pid_file.read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    return record if record.boot_id == _boot_id() else None


def start_ticks(pid: int) -> int | None:
    """Return when a living process started, in ticks since boot; a zombie does not count as living."""
    return entry.start_ticks if (entry := _entry(pid)) else None


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def end(pid_file: Path, polite: signal.Signals, seconds: float) -> None:
    """Ask the server to end, force it after `seconds`, and make sure nothing it started is left."""
    record = read_record(pid_file)
    family = members(pid_file)
    if record:
        _signal(record.pid, polite)
        deadline = time.monotonic() + seconds
        while start_ticks(record.pid) == record.start_ticks and time.monotonic() < deadline:
            time.sleep(0.05)
    _kill_all(family)
    kill(pid_file)


def kill(pid_file: Path) -> None:
    """End the server and everything it started, at once."""
    # Again, because a process may have been started while the others were looked for.
    for _ in range(_KILL_ROUNDS):
        if not (family := members(pid_file)):
            break
        _kill_all(family)
    pid_file.unlink(missing_ok=True)


def _kill_all(family: list[ProcessEntry]) -> None:
    alive = [entry for entry in family if start_ticks(entry.pid) == entry.start_ticks]
    for entry in alive:
        _signal(entry.pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while any(start_ticks(entry.pid) == entry.start_ticks for entry in alive) and time.monotonic() < deadline:
        time.sleep(0.02)


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def members(pid_file: Path) -> list[ProcessEntry]:
    """List the living processes of a server: its session, its descendants, and whoever inherited its mark."""
    entries = {entry.pid: entry for entry in _all_entries()}
    found = {pid for pid in entries if _has_mark(pid, pid_file)}
    record = _stored_record(pid_file)
    # A session keeps its number from being given out again, so a leader that is gone is still ours.
    if record and (record.pid not in entries or entries[record.pid].start_ticks == record.start_ticks):
        found |= {pid for pid, entry in entries.items() if record.pid in (pid, entry.session)}
    while children := {pid for pid, entry in entries.items() if entry.parent in found} - found:
        found |= children
    return [entries[pid] for pid in sorted(found)]


def _all_entries() -> Iterator[ProcessEntry]:
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit() and (entry := _entry(int(directory.name))):
            yield entry


def _entry(pid: int) -> ProcessEntry | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    if fields[0] in "ZX" and not _has_other_threads(pid):
        return None
    return ProcessEntry(pid, int(fields[1]), int(fields[3]), int(fields[19]))


def _has_other_threads(pid: int) -> bool:
    """Tell whether a process whose first thread has ended still holds what its threads share, such as ports."""
    try:
        return len(list(Path(f"/proc/{pid}/task").iterdir())) > 1
    except OSError:
        return False


def _has_mark(pid: int, pid_file: Path) -> bool:
    # Programs that rewrite their title (PostgreSQL, Airflow) lose the mark, hence the other two ways.
    try:
        return f"{_MARK}={pid_file}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def memory_megabytes(pid_file: Path) -> float:
    """Add up the proportional memory of a server's processes."""
    return sum(_proportional_kilobytes(entry.pid) for entry in members(pid_file)) / 1024


def _proportional_kilobytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
