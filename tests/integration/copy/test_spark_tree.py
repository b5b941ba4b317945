"""Type `twinhive copy --spark` between two HDFS, and kill what carries it out in the middle."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox
from tests.support.policies import PolicyFiles
from twinhive.core.model.files import FileStatus, join
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.transfer.tree.work_directories import HIDDEN, Places

pytestmark = [pytest.mark.sandbox, pytest.mark.spark]

PLUGINS = Path(__file__).parents[3] / "plugins"
AWKWARD = ("p=a b/000000_0", "p=100%2541/f%20", "p=Zoë 日本/#1", "p=[x]/{y}", "empty")
MANY = 300
# Each file weighs a megabyte for its calls: so many make three batches.
LENGTH = 40_000
PATIENCE_SECONDS = 400
_EXECUTOR = "CoarseGrainedExecutorBackend"


@dataclass
class Copy:
    """One tree on both clusters, and the command that copies it."""

    source: HadoopFiles
    target: HadoopFiles
    config: Path
    temporary: Path
    place: str
    log: Path

    @property
    def to(self) -> str:
        return self.target.root + self.place

    def put(self, relative: str, content: bytes) -> None:
        self.source.write(join(self.source.root + self.place, relative), content)

    def start(self, *words: str, **environment: str) -> "subprocess.Popen[str]":
        """Begin the copy in a process of its own."""
        sides = (f"east:{self.place}", f"west:{self.place}", "--config", str(self.config), "--log", str(self.log))
        conf = ("ui.enabled=false", "driver.host=127.0.0.1", "driver.bindAddress=127.0.0.1")
        conf += ("driver.memory=512m", "executor.memory=512m")
        settings = (word for pair in conf for word in ("--spark-conf", f"spark.{pair}"))
        command = [sys.executable, "-m", "twinhive.surfaces.cli.app", "copy", *sides, *settings, "--tasks", "2", *words]
        places = {"PYTHONPATH": str(PLUGINS), "TMPDIR": str(self.temporary), "SPARK_LOCAL_IP": "127.0.0.1"}
        return subprocess.Popen(
            command,
            env={**os.environ, **places, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def outcome(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.log.read_text())
        return content

    def processes(self) -> list[int]:
        """Return what spark-submit has started for this copy, which names a file of its directory."""
        return [pid for pid, words in command_lines() if f"{self.temporary}/twinhive-copy-" in words]

    def whole_files(self) -> int:
        """Return how many files of a new target are there, in place or not yet."""
        places = Places(self.to, is_new=True)
        return sum(status.length == LENGTH for status in files_below(self.target, places.tree).values())

    def assert_twin(self) -> None:
        source, target = (files_below(files, files.root + self.place) for files in (self.source, self.target))
        assert {name: status.length for name, status in target.items()} == {
            name: status.length for name, status in source.items()
        }
        for name in AWKWARD:
            original, copy = source[name], target[name]
            assert self.target.read(copy.path) == self.source.read(original.path)
            assert copy.modified_ms == original.modified_ms
        assert self.target.status(Places(self.to, is_new=True).work) is None
        assert self.target.status(Places(self.to, is_new=False).work) is None


@pytest.fixture
def copy(sandbox: Sandbox, policies: PolicyFiles, tmp_path: Path) -> Iterator[Copy]:
    """A tree of many files on the cluster in the east."""
    east, west = (
        HadoopFiles(cluster.hdfs_uri, cluster.hadoop_properties, cluster.user)
        for cluster in (sandbox.clusters["east"], sandbox.clusters["west"])
    )
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    place = f"/tmp/tree-{uuid.uuid4().hex[:12]}"
    made = Copy(east, west, policies.directory, temporary, place, tmp_path / "log.json")
    for number, name in enumerate(AWKWARD):
        made.put(name, (b"%d" % number) * (number * 1000 if name != "empty" else 0))
    for number in range(MANY):
        made.put(f"many/d{number % 10}/{number}", b"%07d\n" % number * (LENGTH // 8))
    yield made
    for files in (east, west):
        files.delete(files.root + place)
        files.close()


def command_lines() -> Iterator[tuple[int, str]]:
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit():
            try:
                words = (directory / "cmdline").read_bytes()
            except OSError:
                continue
            yield int(directory.name), words.replace(b"\0", b" ").decode(errors="replace")


def executors(sandbox: Sandbox) -> list[int]:
    """Return the executors that the sandbox's own Spark runs; each works below the worker's directory."""
    home = str(sandbox.bare_python.parents[2])
    found = []
    for pid, words in command_lines():
        try:
            works_in = Path(f"/proc/{pid}/cwd").readlink()
        except OSError:
            continue
        if _EXECUTOR in words and str(works_in).startswith(home):
            found.append(pid)
    return found


def files_below(files: HadoopFiles, directory: str) -> dict[str, FileStatus]:
    """Return the files below a directory, but ours, by their relative path."""
    found: dict[str, FileStatus] = {}
    waiting = [directory]
    while waiting:
        listed = list(files.list_directories(waiting))
        waiting = []
        for child in (child for _, children in listed for child in children or ()):
            if HIDDEN in child.path.removeprefix(directory):
                continue
            if child.is_directory:
                waiting.append(child.path)
            else:
                found[child.path.removeprefix(directory).lstrip("/")] = child
    return found


def wait_until(happened: Callable[[], object], process: "subprocess.Popen[str]") -> None:
    """Wait for something that a running copy brings about."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        if time.monotonic() > until or process.poll() is not None:
            process.kill()
            said, _ = process.communicate()
            pytest.fail(said[-3000:])
        time.sleep(0.2)


def end_of(process: "subprocess.Popen[str]") -> str:
    said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, said[-3000:]
    return said


@pytest.mark.nightly(
    "tests/unit/runtime/spark/test_submitter_lock.py::test_a_killed_submitter_lets_go",
    "tests/integration/copy/test_copy_faults.py::test_a_killed_copy_is_continued_and_copies_nothing_again_that_was_finished",
)
def test_a_killed_copy_takes_its_job_along_and_is_continued(copy: Copy) -> None:
    first = copy.start("--spark", "local[2]", "--bandwidth", "0.5", "-p", "ugpt")
    wait_until(lambda: copy.whole_files() > 40, first)
    first.kill()
    first.communicate()
    until = time.monotonic() + PATIENCE_SECONDS
    while copy.processes():
        assert time.monotonic() < until, "the Spark job has outlived the command"
        time.sleep(0.1)
    assert not list(copy.temporary.glob("**/settings.json")), "it may hold secrets"
    whole = copy.whole_files()
    assert 40 < whole < MANY
    assert copy.target.status(copy.to) is None, "nothing is visible before it is complete"

    said = end_of(copy.start("--spark", "local[2]", "-p", "ugpt"))
    outcome = copy.outcome()
    assert outcome["copied"]["files"] <= MANY + len(AWKWARD) - whole, said
    assert outcome["copied"]["files"] + outcome["skipped"]["files"] == MANY + len(AWKWARD)
    assert outcome["failed"]["files"] == 0
    copy.assert_twin()


@pytest.mark.nightly(
    "tests/unit/runtime/spark/test_submitter_lock.py::test_a_killed_submitter_lets_go",
    "tests/integration/in_airflow/test_airflow.py::test_the_copies_went_through_spark_and_compared_what_they_copied",
)
def test_an_executor_that_is_killed_is_replaced(copy: Copy, sandbox: Sandbox) -> None:
    sandbox.up("spark-master", "spark-worker")
    bare = str(sandbox.bare_python)
    # Files of directories that exist take another way than those of new ones.
    copy.target.write(join(copy.to, "many/d1/1"), b"old")
    copy.target.write(join(copy.to, "p=a b/000000_0"), b"older")
    there = copy.target.status(join(copy.to, "many/d1/1"))
    words = ("--spark", sandbox.spark_master_url, "--bandwidth", "2", "-p", "ugpt")
    running = copy.start(*words, PYSPARK_PYTHON=bare)

    def has_begun() -> bool:
        now = copy.target.status(join(copy.to, "many/d1/1"))
        return now is not None and now != there

    wait_until(has_begun, running)
    killed = executors(sandbox)
    assert killed
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: set(executors(sandbox)) - set(killed), running)
    said = end_of(running)
    outcome = copy.outcome()
    assert (outcome["copied"]["files"], outcome["failed"]["files"]) == (MANY + len(AWKWARD), 0), said
    copy.assert_twin()
