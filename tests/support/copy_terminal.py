"""Type `twinhive copy` between the two real clusters, and look at what came of it."""

import json
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from sandbox import Sandbox
from twinhive.core.model.files import AS_USUAL, Creation, FileStatus, base_name, join, parent, relative_to
from twinhive.hive.adapters.hdfs import hadoop_streams
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.surfaces.cli.app import app
from twinhive.transfer.tree.work_directories import is_ours

LONGEST_WAIT = 60
_PLUGINS = Path(__file__).parents[2] / "plugins"
_MAIN = "from twinhive.surfaces.cli.app import main; main()"


@dataclass(frozen=True)
class Ended:
    """How a copy ended: exit code, what it printed, and its log, {} where it wrote none."""

    code: int
    said: str
    log: dict[str, Any]

    @property
    def copied(self) -> int:
        """Return the number of copied files."""
        return int(self.log["copied"]["files"])

    @property
    def skipped(self) -> int:
        """Return the number of files that were found equal."""
        return int(self.log["skipped"]["files"])

    @property
    def failed(self) -> dict[str, str]:
        """Return the kinds of what failed, by the names of the files."""
        return {base_name(failure["path"]): failure["kind"] for failure in self.log["failures"]}


class CopyTerminal:
    """A terminal beside both clusters, and a directory on each that is its own."""

    def __init__(self, box: Sandbox, directory: Path) -> None:
        self.box = box
        self.directory = directory
        name = f"copy-{uuid.uuid4().hex[:12]}"
        clusters = [box.clusters[side] for side in ("east", "west")]
        self.east, self.west = (HadoopFiles(each.hdfs_uri, each.hadoop_properties, each.user) for each in clusters)
        self.source, self.target = f"hdfs://east/tmp/{name}/s", f"hdfs://west/tmp/{name}/t"
        self._conf_dir = clusters[0].conf_dir
        self._user = clusters[0].user

    def type(self, *words: str, code: int = 0) -> Ended:
        """Run the command in this process; its exit code is checked."""
        ended = self._typed(words)
        assert ended.code == code, ended.said
        assert "Traceback" not in ended.said
        return ended

    def copy(self, *options: str, code: int = 0) -> Ended:
        """Copy the source to the target."""
        return self.type(self.source, self.target, *options, code=code)

    @contextmanager
    def copying(self, *options: str) -> Iterator[list[Ended]]:
        """Copy the source to the target in the background; the outcome is in the list after the block."""
        ended: list[Ended] = []
        words = (self.source, self.target, *options)
        thread = threading.Thread(target=lambda: ended.append(self._typed(words)))
        thread.start()
        try:
            yield ended
        finally:
            thread.join(LONGEST_WAIT)
        assert ended, "the copy has not ended"

    def process(self, *options: str) -> "subprocess.Popen[str]":
        """Copy the source to the target in a process of its own."""
        command = [sys.executable, "-c", _MAIN, *self._command(self.source, self.target, *options)]
        environment = {**os.environ, **self._environment(), "PYTHONPATH": str(_PLUGINS)}
        streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(command, env=environment, text=True, **streams)

    def assert_twin(self) -> None:
        """Assert that the target holds what the source holds, and nothing unfinished."""
        assert contents(self.west, self.target) == contents(self.east, self.source)
        assert self.west.status(join(self.target, ".twinhive", "work")) is None
        assert not [name for name in names(self.west, parent(self.target)) if is_ours(name)]

    def close(self) -> None:
        """Delete both directories."""
        for files, path in ((self.east, self.source), (self.west, self.target)):
            if files.status(path):
                for snapshot in files.snapshots(path) or ():
                    files.delete_snapshot(path, snapshot)
            files.delete(parent(path))
            files.close()

    def _typed(self, words: tuple[str, ...]) -> Ended:
        log = self.directory / f"{uuid.uuid4().hex}.json"
        result = CliRunner().invoke(app, self._command(*words, "--log", str(log)), env=self._environment())
        said = result.output + result.stderr + repr(result.exception or "")
        return Ended(result.exit_code, said, json.loads(log.read_text()) if log.exists() else {})

    def _command(self, *words: str) -> list[str]:
        return ["copy", *words, *(() if "--user" in words else ("--user", self._user))]

    def _environment(self) -> dict[str, str]:
        return {"HADOOP_CONF_DIR": str(self._conf_dir), "TWINHIVE_CONFIG": str(self.directory), "COLUMNS": "250"}


def put(files: HadoopFiles, path: str, content: bytes, how: Creation = AS_USUAL) -> None:
    """Write a file in one go, as `how` says."""
    stream = hadoop_streams.create(files._client, path, how)
    stream.write(content)
    stream.close()


def tree(files: HadoopFiles, root: str) -> dict[str, FileStatus]:
    """Return all that is below a directory, by relative path, without our own directories."""
    found: dict[str, FileStatus] = {}
    level = [root]
    while level:
        children = [child for _, page in files.list_pages(level) for child in page or ()]
        kept = [child for child in children if not is_ours(base_name(child.path))]
        found |= {relative_to(child.path, root): child for child in kept}
        level = [child.path for child in kept if child.is_directory]
    return found


def contents(files: HadoopFiles, root: str) -> dict[str, bytes | None]:
    """Return the contents of all files below a directory, and None for each directory."""
    found = tree(files, root).items()
    return {relative: None if each.is_directory else files.read(each.path) for relative, each in found}


def names(files: HadoopFiles, directory: str) -> list[str]:
    """Return the names in a directory."""
    [(_, children)] = files.list_directories([directory])
    return [base_name(child.path) for child in children or ()]


def wait_until(condition: Callable[[], object]) -> None:
    """Wait for something that a copy in the background does."""
    deadline = time.monotonic() + LONGEST_WAIT
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
