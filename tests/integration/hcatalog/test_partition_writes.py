"""Write partitions by real Spark into a real table, from a session and as a task does; a replica follows."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox
from sandbox.spark import spark_conf, spark_submit_environment
from tests.integration.spark_sql import quick_start
from tests.support.policies import PolicyFiles
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.cluster_comparison import assert_equal_twin
from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.publishing.sets.listed_sets import SetsOfDatabase
from twinhive.runtime.spark.cluster import SparkCluster
from twinhive.runtime.spark.job_outcome import NextSteps
from twinhive.runtime.spark.jobs import Job
from twinhive.runtime.spark.write_settings import RowsOf, WriteJobSettings

pytestmark = [pytest.mark.sandbox, pytest.mark.spark]
ROOT = Path(__file__).parents[3]

# One session for all: lines of JSON in, `write_partitions` with these keywords, lines of JSON out.
SESSION = """
import json, os, sys
from pyspark.sql import SparkSession
from twinhive.core.model.errors import TwinhiveError
from twinhive.publishing.partition_writes.write_request import SmallFiles
from twinhive.runtime.spark.partition_writes import write_partitions
builder = SparkSession.builder.master("local[2]").appName("writer")
for key, value in json.loads(sys.argv[1]).items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
for line in sys.stdin:
    given = json.loads(line)
    rule = given.pop("small_files", None)
    for statement in given.pop("before", []):
        spark.sql(statement)
    if "ask" in given:
        try:
            answer = [list(row) for row in spark.sql(given["ask"]).collect()]
        except Exception as error:
            answer = {"error": str(error)}
        print("ANSWER" + json.dumps(answer, default=str), flush=True)
        continue
    frame = spark.sql(given.pop("sql")).repartition(given.pop("tasks", 1))
    if "kill" in given:
        calls = given.pop("kill")
        from twinhive.hive.adapters.hive import hive_table_writer
        real = hive_table_writer.ThriftTableWriter.alter_partitions
        def killed(self, partitions):
            real(self, partitions)
            os._exit(9)
        hive_table_writer.ThriftTableWriter.alter_partitions = killed
    try:
        done = write_partitions(frame, small_files=SmallFiles(**rule) if rule else None, report=lambda _: None, **given)
        answer = {"partitions": done.partitions, "files": done.files, "merged": done.merged, "new": done.shown.new,
                  "replaced": done.shown.replaced, "appended": done.shown.appended, "already": done.already}
    except TwinhiveError as error:
        answer = {"error": str(error)}
    print("ANSWER" + json.dumps(answer), flush=True)
"""


class Session:
    """A user's PySpark session on east."""

    def __init__(self, box: Sandbox, log: Path) -> None:
        cluster = box.clusters["east"]
        self.metastore = cluster.metastore_uri
        self.log = log.open("w")
        environment = {**os.environ, **spark_submit_environment(cluster)}
        environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "plugins")])
        self.process = subprocess.Popen(
            [sys.executable, "-c", SESSION, json.dumps({**spark_conf(cluster), **quick_start()})],
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
        )

    def call(self, **given: Any) -> Any:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(given) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("ANSWER"):
                return json.loads(line.removeprefix("ANSWER"))
        return None

    def write(self, table: str, sql: str, **given: Any) -> Any:
        return self.call(table=table, sql=sql, metastore=self.metastore, **given)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.log.close()


@pytest.fixture(scope="module")
def session(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    opened = Session(sandbox, tmp_path_factory.mktemp("writer") / "log")
    yield opened
    opened.close()


def a_table(session: Session, database: str, name: str, kind: str = "PARQUET") -> str:
    columns = "id INT, name VARCHAR(5)"
    session.call(
        before=[
            f"CREATE TABLE {database}.{name} ({columns}) PARTITIONED BY (day DATE, region STRING) STORED AS {kind}"
        ],
        ask="SELECT 1",
    )
    return f"{database}.{name}"


def rows(numbers: str, more: str = "") -> str:
    """Return a query of rows over three days and four regions, odd names among these."""
    return (
        f"SELECT CAST(id % 4 AS STRING) || 'é' AS name, CAST(id AS INT) AS ID, "
        f"date_add(DATE'2011-02-28', CAST(id % 3 AS INT)) AS day, "
        f"element_at(array('us', 'e/u', 'a=b c', NULL), CAST(id % 4 AS INT) + 1) AS region FROM range({numbers}) {more}"
    )


def counted(session: Session, table: str) -> list[Any]:
    [row] = session.call(
        before=[f"REFRESH TABLE {table}"],
        ask=f"SELECT count(*), sum(id), count(DISTINCT day, coalesce(region, '')) FROM {table}",
    )
    return list(row)


def marks(metastore: ThriftSource, database: str) -> list[tuple[str, int, int | None]]:
    """Return set, how often it was marked, how many partitions it had."""
    listed = SetsOfDatabase(metastore, database, None, "30d").read()
    return sorted((one.mark.spec, one.mark.count, one.mark.partitions) for one in listed)


def follow_all(policies: PolicyFiles, policy: str) -> None:
    while not policies.follow(policy)["window"].idle:
        pass


OTHER_FORMAT = pytest.mark.nightly(
    "tests/integration/hcatalog/test_partition_writes.py::"
    "test_what_is_written_is_read_by_spark_and_is_on_the_replica_without_a_scan",
)


@pytest.mark.parametrize("kind", ["PARQUET", pytest.param("ORC", marks=OTHER_FORMAT)])
def test_what_is_written_is_read_by_spark_and_is_on_the_replica_without_a_scan(
    session: Session, east: Warehouse, west: Warehouse, policies: PolicyFiles, kind: str
) -> None:
    database = east.create_database("written")
    table = a_table(session, database, "days", kind)
    done = session.write(table, rows("0, 120"), job="first", tasks=4)
    assert (done["partitions"], done["new"], done["files"]) == (12, 12, 12)
    assert counted(session, table) == [120, sum(range(120)), 12]
    policy = policies.add(database)
    policies.run(policy)
    assert_equal_twin(east, database, west)

    refused = session.write(table, rows("0, 10"), job="again")
    assert "partitions of" in refused["error"]
    assert "are there already" in refused["error"]
    done = session.write(table, rows("0, 60", "WHERE id % 3 = 0"), job="overwritten", mode="overwrite")
    assert (done["replaced"], done["new"]) == (4, 0)
    wanted = sum(range(0, 60, 3)) + sum(number for number in range(120) if number % 3)
    assert counted(session, table) == [100, wanted, 12]
    done = session.write(table, rows("1000, 1024"), job="appended", mode="append")
    assert done["appended"] == 12
    assert counted(session, table) == [124, wanted + sum(range(1000, 1024)), 12]
    assert session.write(table, rows("1000, 1024"), job="appended", mode="append")["already"]
    follow_all(policies, policy)
    assert_equal_twin(east, database, west)


@pytest.mark.thorough
def test_the_set_is_marked_when_all_is_shown_and_once_a_job(
    session: Session, east: Warehouse, source_metastore: ThriftSource
) -> None:
    database = east.create_database("marked")
    table = a_table(session, database, "days")
    refused = session.write(table, rows("0, 24"), job="one", set_done={"hour": "1"})
    assert "'hour' is no partition key of the table" in refused["error"]
    assert marks(source_metastore, database) == []
    for _ in range(2):
        done = session.write(table, rows("0, 24"), job="one", set_done={"day": "2011-02-28"})
    assert (done["partitions"], done["already"]) == (12, True)
    assert marks(source_metastore, database) == [("day=2011-02-28", 1, 4)]
    session.write(table, rows("24, 48"), job="two", mode="append", set_done={"region": "a=b c", "day": "2011-02-28"})
    assert marks(source_metastore, database)[1:] == [("day=2011-02-28/region=a%3Db c", 1, 1)]


@pytest.mark.nightly(
    "tests/integration/hcatalog/test_partition_writes.py::test_the_set_is_marked_when_all_is_shown_and_once_a_job",
    "tests/unit/publishing/partition_writes/test_partition_writer.py::test_a_thousand_partitions_are_one_call_and_one_more_is_two",
    "tests/unit/publishing/partition_writes/test_partition_writer.py::test_what_cannot_be_shown_is_not_marked",
)
def test_five_hundred_partitions_are_few_files_and_one_call_and_a_write_that_fails_marks_nothing(
    sandbox: Sandbox, session: Session, east: Warehouse, source_metastore: ThriftSource
) -> None:
    database = east.create_database("many")
    table = a_table(session, database, "days")
    days = (
        "SELECT CAST(id AS INT) AS id, 'n' AS name, date_add(DATE'2011-01-01', CAST(id % 500 AS INT)) AS day, "
        "'us' AS region FROM range(5000)"
    )
    before = source_metastore.current_event_id()
    place = source_metastore.table(TableName(database, "days"))
    assert place is not None and place.location is not None
    # There is no room for all of them: names below the table's directory are counted.
    sandbox.dfsadmin("east", "-setQuota", "200", place.location)
    failed = session.write(table, days, tasks=4, job="one", set_done="region=us")
    assert "quota" in failed["error"].lower(), failed
    assert [row for row in source_metastore.events_after(before, 1_000) if row.event_type == "ADD_PARTITION"] == []
    assert marks(source_metastore, database) == []
    sandbox.dfsadmin("east", "-clrQuota", place.location)

    done = session.write(table, days, tasks=4, job="one", set_done="region=us")
    assert (done["partitions"], done["new"]) == (500, 500)
    assert done["files"] <= 550
    added = [row.table for row in source_metastore.events_after(before, 1_000) if row.event_type == "ADD_PARTITION"]
    assert added == ["days", "twinhive_sets"]
    assert marks(source_metastore, database) == [("region=us", 1, 500)]
    assert counted(session, table) == [5_000, sum(range(5_000)), 500]


@pytest.mark.nightly(
    "tests/integration/hcatalog/test_partition_writes.py::test_the_spark_job_reads_files_and_writes_partitions",
    "tests/unit/publishing/partition_writes/test_partition_writer.py",
)
def test_small_files_of_many_tasks_are_merged(session: Session, east: Warehouse) -> None:
    database = east.create_database("merged")
    table = a_table(session, database, "days")
    # The hint gathers a partition into one file; a limit on the rows of a file makes several of it again.
    limited, unlimited = (f"SET spark.sql.files.maxRecordsPerFile={most}" for most in (100, 0))
    done = session.write(table, rows("0, 3000"), job="one", tasks=8, before=[limited])
    assert (done["files"], done["partitions"]) == (36, 12)
    rule = {"at_least": 2, "below": 10**9}
    done = session.write(table, rows("0, 3000"), job="two", mode="overwrite", small_files=rule)
    session.call(before=[unlimited], ask="SELECT 1")
    assert (done["files"], done["merged"]) == (12, 36)
    assert counted(session, table) == [3000, sum(range(3000)), 12]


def test_a_text_that_is_too_long_is_named_and_nothing_is_shown(session: Session, east: Warehouse) -> None:
    database = east.create_database("toolong")
    table = a_table(session, database, "days")
    sql = "SELECT 1 AS id, 'abcdef' AS name, DATE'2011-02-28' AS day, 'us' AS region"
    refused = session.write(table, sql, job="one")
    assert "the row cannot be held by the table: name is varchar(5), found: abcdef" in refused["error"]
    assert counted(session, table)[0] == 0
    assert "done" not in refused


@pytest.mark.nightly(
    "tests/unit/publishing/partition_writes/test_partition_writer.py::test_killed_at_any_change_and_repeated_it_comes_to_the_same_end",
)
def test_a_driver_that_is_killed_after_its_switch_is_repeated_and_the_replica_has_the_new_rows(
    sandbox: Sandbox, session: Session, east: Warehouse, west: Warehouse, policies: PolicyFiles, tmp_path: Path
) -> None:
    database = east.create_database("killed")
    table = a_table(session, database, "days")
    session.write(table, rows("0, 24"), job="first")
    policy = policies.add(database)
    policies.run(policy)

    dying = Session(sandbox, tmp_path / "log")
    assert dying.write(table, rows("100, 124"), job="second", mode="overwrite", kill=1) is None
    assert dying.process.wait(60) == 9
    dying.close()
    done = session.write(table, rows("100, 124"), job="second", mode="overwrite")
    assert (done["replaced"], done["new"]) == (12, 0)
    assert counted(session, table) == [24, sum(range(100, 124)), 12]
    follow_all(policies, policy)
    assert_equal_twin(east, database, west)


@dataclass
class Reading:
    """Another session that reads a table again and again, in a thread of its own."""

    session: Session
    table: str
    seen: list[list[Any]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    is_enough: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self.is_enough.is_set():
            found = self.session.call(
                before=[f"REFRESH TABLE {self.table}"],
                ask=f"SELECT day, region, min(id), max(id), count(*) FROM {self.table} GROUP BY day, region",
            )
            if found is None:
                return
            if isinstance(found, dict):
                self.errors.append(found["error"])
            else:
                self.seen.append(found)


@pytest.mark.nightly(
    "tests/unit/publishing/partition_writes/test_partition_writer.py::"
    "test_readers_amid_an_overwrite_have_old_or_new_rows_and_the_replica_has_the_new_by_the_inserts_events"
)
def test_spark_that_reads_while_partitions_are_overwritten_has_old_or_new_rows(
    sandbox: Sandbox, session: Session, east: Warehouse, tmp_path: Path
) -> None:
    """Each of twelve partitions has, in each reading, all rows of one version and none of another; never older ones.

    A query that meets files which are gone since it was planned fails, as after Hive's INSERT OVERWRITE.
    """
    table = a_table(session, east.create_database("read"), "days")
    session.write(table, rows("0, 120"), job="0")
    reader = Session(sandbox, tmp_path / "log")
    reading = Reading(reader, table)
    thread = threading.Thread(target=reading.run)
    thread.start()
    try:
        for version in range(1, 9):
            start = 120 * version
            session.write(table, rows(f"{start}, {start + 120}"), job=str(version), mode="overwrite", tasks=3)
            # The one that runs now may have begun before.
            last = len(reading.seen)
            while thread.is_alive() and len(reading.seen) < last + 2:
                thread.join(0.2)
    finally:
        reading.is_enough.set()
        thread.join(60)
        reader.close()
    assert len({tuple(map(tuple, sorted(one, key=str))) for one in reading.seen}) > 1, "it saw one state only"
    assert all("FILE_NOT_EXIST" in one for one in reading.errors), reading.errors
    versions: dict[tuple[str, str], int] = {}
    for found in reading.seen:
        assert len(found) == 12
        for day, region, least, most, count in found:
            assert (count, least // 120) == (10, most // 120), found
            assert least // 120 >= versions.get((day, region), 0), "rows that were replaced came back"
            versions[day, region] = least // 120
    assert set(versions.values()) == {8}


@dataclass
class SubmittedJob:
    """The job of a task, over three rows of each of three regions in a file of JSON."""

    table: str
    given: WriteJobSettings
    cluster: SparkCluster
    said: list[str] = field(default_factory=list)

    def run(self, **changed: Any) -> None:
        settings, steps = replace(self.given, **changed), NextSteps("act", "unusable", "again")
        job = Job("write_partitions", self.cluster, settings.label, steps, settings.user)
        job.run(settings.to_json(), self.said.append)


@pytest.fixture
def submitted(sandbox: Sandbox, session: Session, east: Warehouse) -> SubmittedJob:
    database = east.create_database("job")
    table = a_table(session, database, "days")
    cluster = sandbox.clusters["east"]
    raw = f"{cluster.hdfs_uri}/tmp/{database}"
    lines = [f'{{"id": {number}, "name": "n", "day": "2011-02-28", "region": "r{number % 3}"}}' for number in range(9)]
    east.files.write(f"{raw}/raw.json", "\n".join(lines).encode())
    conf = {f"spark.hadoop.{key}": value for key, value in cluster.hadoop_properties.items()}
    query = "SELECT CAST(id AS INT) AS id, name, CAST(day AS DATE) AS day, region FROM raw"
    given = WriteJobSettings(
        RowsOf(query, {"raw": {"format": "json", "path": raw}}),
        table,
        cluster.metastore_uri,
        "add",
        "run 1",
        cluster.user,
        set_done="day=2011-02-28",
    )
    return SubmittedJob(table, given, SparkCluster("local[2]", 2, conf))


@pytest.mark.thorough
def test_the_spark_job_reads_files_and_writes_partitions(
    session: Session, submitted: SubmittedJob, source_metastore: ThriftSource
) -> None:
    submitted.run()
    assert counted(session, submitted.table) == [9, sum(range(9)), 3]
    assert any("3 new partitions" in line for line in submitted.said), submitted.said
    assert marks(source_metastore, submitted.table.partition(".")[0]) == [("day=2011-02-28", 1, 3)]


@pytest.mark.nightly(
    "tests/integration/hcatalog/test_partition_writes.py::test_the_spark_job_reads_files_and_writes_partitions",
    "tests/integration/hcatalog/test_partition_writes.py::test_the_set_is_marked_when_all_is_shown_and_once_a_job",
    "tests/unit/runtime/spark/test_job_outcome.py",
)
def test_a_spark_job_that_is_submitted_again_has_nothing_to_do_and_one_that_cannot_run_says_so(
    submitted: SubmittedJob,
) -> None:
    submitted.run()
    submitted.run()
    assert any("was written before" in line for line in submitted.said), submitted.said
    with pytest.raises(ActNow, match=r"the query for .* cannot be run"):
        submitted.run(rows=RowsOf("SELECT nothing FROM nowhere"), job="run 2")
