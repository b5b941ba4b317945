"""Submit the copy job for real: on this machine's files, and between two HDFS on a Spark cluster."""

import gzip
import importlib.util
import json
import os
import subprocess
import sys
import time
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hive_metastore import ttypes

import twinhive
from tests.integration.spark_sql import ONE_WORKER, quick_start
from tests.support.users.warehouse import Warehouse
from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.files import ChecksumForm
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.hive.adapters.spark_package import native_package, python_package
from twinhive.runtime.spark.copy_settings import CopySettings, ListedCopy
from twinhive.runtime.spark.environment import QUIET_AND_QUICK
from twinhive.runtime.spark.submitter_lock import held
from twinhive.transfer.staged.job import CopyJob
from twinhive.transfer.staged.staged_files import CopyItem

pytestmark = pytest.mark.spark
JOB = Path(__file__).parents[3] / "spark_jobs" / "copy_files.py"
NAMES = ("p=a b/000000_0", "p=100%2541/f%20", "p=Zoë 日本/#1", "p=[x]/{y}", "empty")


@dataclass
class Job:
    """One batch on one pair of file systems, and how it is submitted."""

    directory: Path
    source: HadoopFiles
    target: HadoopFiles
    place: str
    sides: dict[str, dict[str, Any]]
    master: str = ONE_WORKER
    executor_python: str = sys.executable
    archives: bool = False
    items: list[CopyItem] = field(default_factory=list)

    @property
    def staging(self) -> str:
        return f"{self.target.root}{self.place}/staging"

    @property
    def result(self) -> str:
        return f"{self.source.root}{self.place}/result.json"

    def put_files(self, names: tuple[str, ...] = NAMES) -> None:
        for number, name in enumerate(names):
            path = f"{self.source.root}{self.place}/source/{name}"
            self.source.write(path, b"x" * number * 1000)
            status = self.source.status(path)
            assert status
            self.items.append(CopyItem(path, status.length, status.modified_ms, status.file_id, status.block_size))

    def submit(self, *, superseded_ok: bool = False, **settings: Any) -> "subprocess.CompletedProcess[str]":
        listing = f"{self.source.root}{self.place}/files/b1.jsonl.gz"
        lines = "\n".join(item.to_line() for item in self.items)
        self.source.write(listing, gzip.compress(lines.encode()))
        job = CopyJob(listing, self.staging, self.result, "sales.orders +1 tables", len(self.items), 0, superseded_ok)
        source, target, dump = (FileSystemEndpoint(**self.sides[side]) for side in ("source", "target", "dump"))
        written = CopySettings(source, target, ListedCopy(job, dump, "d1", "b1"), threads=4, tasks=2)
        path = self.directory / "settings.json"
        path.write_text(json.dumps({**json.loads(written.to_json()), **settings}))
        # spark-submit mixes the driver's two streams; Airflow sees one stream, and so do the tests.
        streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        command = [*self._command(), str(JOB), str(path)]
        with held(path):
            return subprocess.run(command, env=self._environment(), text=True, timeout=300, check=False, **streams)

    def result_content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.source.read(self.result))
        return content

    def staged(self) -> list[bytes]:
        return [self.target.read(item.staged_path(self.staging)) for item in self.items]

    def _command(self) -> list[str]:
        spec = importlib.util.find_spec("pyspark")
        assert spec and spec.submodule_search_locations
        submit = Path(spec.submodule_search_locations[0], "bin", "spark-submit")
        cache = self.directory.parent / "packages"
        command = [str(submit), "--master", self.master]
        quick = QUIET_AND_QUICK["spark.driver.extraJavaOptions"]
        for key, value in {**quick_start(), "spark.executor.extraJavaOptions": quick}.items():
            command += ["--conf", f"{key}={value}"]
        command += ["--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1"]
        command += ["--driver-memory", "512m", "--executor-memory", "512m", "--py-files", str(python_package(cache))]
        return [*command, "--archives", f"{native_package(cache)}#native"] if self.archives else command

    def _environment(self) -> dict[str, str]:
        kept = {key: os.environ[key] for key in ("PATH", "HOME", "JAVA_HOME") if key in os.environ}
        pythons = {"PYSPARK_PYTHON": self.executor_python, "PYSPARK_DRIVER_PYTHON": sys.executable}
        return {**kept, **pythons, "SPARK_LOCAL_IP": "127.0.0.1"}


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A batch of this machine's own files."""
    files = HadoopFiles("file://", {})
    side: dict[str, Any] = {"root": "file://", "properties": {}, "user": None}
    made = Job(tmp_path, files, files, f"{tmp_path}/data", dict.fromkeys(("source", "target", "dump"), side))
    made.put_files()
    return made


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python without any package, as on an executor nobody prepared."""
    home = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    return str(home / "bin" / "python")


def test_packages_are_built_once_and_hold_what_a_worker_imports(tmp_path: Path) -> None:
    package, native = python_package(tmp_path), native_package(tmp_path)
    times = [archive.stat().st_mtime_ns for archive in (package, native)]
    assert (python_package(tmp_path), native_package(tmp_path)) == (package, native)
    assert [archive.stat().st_mtime_ns for archive in (package, native)] == times
    assert sorted(tmp_path.iterdir()) == sorted([package, native])
    with zipfile.ZipFile(package) as zipped:
        names = set(zipped.namelist())
        assert {
            "twinhive/__init__.py",
            "twinhive/core/ports/__init__.py",
            "twinhive/hive/adapters/hdfs/hadoop_fs.py",
        } <= names
        metastores = [name for name in names if name.startswith("twinhive/hive/adapters/") and "hive_" in name]
        assert not [name for name in names if "airflow" in name or name.startswith("thrift")] + metastores
    with zipfile.ZipFile(native) as zipped:
        assert {"jpype/__init__.py", "org.jpype.jar"} <= set(zipped.namelist())


def test_copies_on_executors_without_packages_then_skips_and_says_what_needs_a_person(
    job: Job, bare_python: str
) -> None:
    job.executor_python, job.archives = bare_python, True
    first = job.submit()
    assert first.returncode == 0, first.stdout[-3000:]
    result = job.result_content()
    assert {key: result[key] for key in ("batch", "dump", "version", "files", "copied_files", "failures")} == {
        "batch": "b1",
        "dump": "d1",
        "version": twinhive.__version__,
        "files": 5,
        "copied_files": 5,
        "failures": [],
    }
    assert result["bytes"] == result["copied_bytes"] == 10_000
    assert [len(content) for content in job.staged()] == [0, 1000, 2000, 3000, 4000]
    assert "5 of 5 files copied" in first.stdout

    job.put_files(("later/0", "later/1", "later/2"))
    new, gone, other = (item.path for item in job.items[-3:])
    job.source.delete(gone)
    job.source.write(other, b"changed")
    done = job.submit()
    assert done.returncode == 4, done.stdout[-3000:]
    result = job.result_content()
    assert [result[key] for key in ("copied_files", "skipped_files", "failure_count")] == [1, 5, 2], new
    assert {failure["path"]: failure["kind"] for failure in result["failures"]} == {gone: "missing", other: "changed"}
    assert "2 failed" in done.stdout and gone in done.stdout


OF_A_DOCUMENT = pytest.mark.nightly("tests/integration/copy/test_spark_copy.py::test_settings_that_cannot_be_used")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"version": "0.0.9"}, "the submitter is twinhive 0.0.9"),
        pytest.param({"target": {"root": "file://"}}, "'properties'", marks=OF_A_DOCUMENT),
        pytest.param({"surprise": 1}, "surprise", marks=OF_A_DOCUMENT),
    ],
)
def test_settings_that_cannot_be_used(job: Job, settings: dict[str, Any], says: str) -> None:
    done = job.submit(**settings)
    assert done.returncode == 5
    assert says in done.stdout


@pytest.mark.nightly(
    "tests/integration/copy/test_spark_copy.py::"
    "test_copies_on_executors_without_packages_then_skips_and_says_what_needs_a_person"
)
def test_executors_without_jpype_are_told_what_they_lack(job: Job, bare_python: str) -> None:
    job.executor_python = bare_python
    done = job.submit()
    assert done.returncode == 5, done.stdout[-3000:]
    assert "jpype cannot be imported" in done.stdout and "--archives" in done.stdout


@pytest.mark.sandbox
@pytest.mark.spark
class TestBetweenClusters:
    """Two HDFS, and executors of a standalone cluster whose Python has no packages."""

    @pytest.fixture
    def job(self, sandbox: Any, tmp_path: Path) -> Iterator[Job]:
        sandbox.up("spark-master", "spark-worker")
        east, west = sandbox.clusters["east"], sandbox.clusters["west"]
        sides = {
            name: {"root": cluster.hdfs_uri, "properties": dict(cluster.hadoop_properties), "user": cluster.user}
            for name, cluster in (("source", east), ("target", west), ("dump", east))
        }
        source, target = (HadoopFiles(**sides[name]) for name in ("source", "target"))
        made = Job(tmp_path, source, target, f"/tmp/copy-{uuid.uuid4().hex}", sides, sandbox.spark_master_url)
        made.executor_python, made.archives = str(sandbox.bare_python), True
        made.put_files()
        yield made
        for files in (source, target):
            files.delete(f"{files.root}{made.place}")
            files.close()

    @pytest.mark.nightly(
        "tests/integration/in_airflow/test_airflow.py::test_the_copies_went_through_spark_and_compared_what_they_copied",
    )
    def test_copies_and_compares(self, job: Job) -> None:
        done = job.submit()
        assert done.returncode == 0, done.stdout[-3000:]
        assert [len(content) for content in job.staged()] == [0, 1000, 2000, 3000, 4000]
        assert job.result_content()["unverified"] == 0

    @pytest.mark.nightly(
        "tests/unit/transfer/staged/test_event_source.py",
        "tests/integration/in_airflow/test_airflow.py::test_the_copies_went_through_spark_and_compared_what_they_copied",
    )
    def test_files_that_events_named_are_found_in_the_change_manager(self, sandbox: Any, job: Job) -> None:
        east = sandbox.clusters["east"]
        job.source.delete(job.items[4].path)
        listed = list(job.items)
        with closing(Warehouse(east)) as warehouse:
            for event_id, name in ((7, "000000_0"), (8, "000000_0"), (9, "é" + "n" * 205)):
                path = f"{job.source.root}{job.place}/dropped/{name}"
                job.source.write(path, f"rows of event {event_id} of {job.place}".encode())
                checksum = job.source.checksum(path, ChecksumForm.IDENTITY)
                warehouse.client.cm_recycle(ttypes.CmRecycleRequest(dataPath=path, purge=True))
                assert job.source.status(path) is None
                job.items.append(CopyItem(path, 0, 0, 0, checksum=checksum, cmroot=east.cmroot, event_id=event_id))
        done = job.submit(superseded_ok=True)
        assert done.returncode == 0, done.stdout[-3000:]
        result = job.result_content()
        assert (result["copied_files"], result["superseded_files"], result["unverified"]) == (7, 1, 0)
        assert [job.target.read(item.staged_path(job.staging)) for item in job.items[len(listed) :]] == [
            f"rows of event {event_id} of {job.place}".encode() for event_id in (7, 8, 9)
        ]

    @pytest.mark.nightly(
        "tests/integration/copy/test_copy_faults.py::test_a_server_of_the_target_that_is_killed_and_comes_back",
    )
    def test_a_lost_cluster_may_be_tried_again(self, sandbox: Any, job: Job) -> None:
        sandbox.stop("west-namenode")
        try:
            done = job.submit()
        finally:
            sandbox.up("west-namenode")
        assert done.returncode == 3, done.stdout[-3000:]
        assert {failure["kind"] for failure in job.result_content()["failures"]} == {"unreachable"}
        assert job.submit().returncode == 0

    @pytest.mark.nightly(
        "tests/unit/runtime/spark/test_submitter_lock.py::test_a_killed_submitter_lets_go",
        "tests/integration/copy/test_copy_faults.py::test_a_killed_copy_is_continued_and_copies_nothing_again_that_was_finished",
    )
    def test_a_killed_copy_is_continued(self, job: Job) -> None:
        job.put_files(tuple(f"many/{number}" for number in range(1, 200)))
        lines = "\n".join(item.to_line() for item in job.items)
        given = json.dumps({**job.sides, "staging": job.staging})
        environment = {**os.environ, "PYTHONPATH": str(Path(twinhive.__file__).parents[1])}
        command = [sys.executable, "-c", _COPY, given]
        with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, text=True) as process:
            assert process.stdin
            process.stdin.write(lines)
            process.stdin.close()
            while process.poll() is None and len(_staged_names(job)) < 20:
                time.sleep(0.02)
            process.kill()
        left = len(_staged_names(job))
        assert 20 <= left < len(job.items)
        done = job.submit()
        assert done.returncode == 0, done.stdout[-3000:]
        assert job.result_content()["skipped_files"] >= left
        assert job.staged() == [job.source.read(item.path) for item in job.items]


_COPY = """
import json, sys
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.transfer.staged.copy_items import copy_items
from twinhive.transfer.staged.staged_files import CopyItem
given = json.loads(sys.argv[1])
items = [CopyItem.from_line(line) for line in sys.stdin]
copy_items(items, HadoopFiles(**given["source"]), HadoopFiles(**given["target"]), given["staging"], 4)
"""


def _staged_names(job: Job) -> set[str]:
    wanted = {item.staged_path(job.staging) for item in job.items}
    directories = sorted({path.rpartition("/")[0] for path in wanted})
    listed = job.target.list_directories(directories)
    return wanted & {child.path for _, children in listed for child in children or []}
