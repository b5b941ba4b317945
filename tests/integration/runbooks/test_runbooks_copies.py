"""Follow the runbooks for copies on a third cluster, through a running Airflow; and a task that waits for a copy."""

import itertools
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from sandbox import Sandbox
from sandbox.spark import spark_conf
from tests.integration.airflow_fixtures import FIRST, Run, RunningAirflow, until
from tests.integration.oncall import OnCall
from tests.support.runbooks import runbooks
from tests.support.users.source_writer import SourceWriter
from tests.support.users.thrift_source import ThriftSource
from tests.support.users.warehouse import Warehouse
from tests.support.worlds.copies_world import contents
from twinhive.federation.placement.copies_status import copies_of, totals
from twinhive.hive.adapters.hdfs.hadoop_fs import HadoopFiles
from twinhive.surfaces.airflow.dags.move_dag import MOVE

pytestmark = [pytest.mark.sandbox, pytest.mark.airflow]
COPIES, QUERY = "copies", "asks_for_a_copy"
_AT_WORK = ("queued", "running")
_CONSUMER = """
from airflow.sdk import DAG
from twinhive.operators import ClusterSqlOperator

with DAG("{dag}", schedule=None, is_paused_upon_creation=False):
    ClusterSqlOperator(
        task_id="query", sql="SELECT count(*) AS rows FROM plain JOIN there ON plain.id <> there.id",
        database="{database}", metastore="east", wait_for_copy=True, user="reader",
        config="{config}", spark_conf={conf},
    )
"""


class Placement:
    """A database of east with a placement on north, and the Airflow that knows it."""

    def __init__(self, airflow: RunningAirflow, users: SourceWriter) -> None:
        self.airflow, self.users = airflow, users
        self.name = f"near_{users.database}"
        self.dag_id = f"{self.name}.{COPIES}"

    def standing(self) -> tuple[int, int, int]:
        """Return how many copies are fresh, stale, missing: what `twinhive copies` says."""
        wiring = self.airflow.policies.wiring(self.name)
        return totals(list(copies_of(wiring.read_ports(), wiring.policy)))

    def at_work(self) -> bool:
        """True while a run of the placement's DAG is under way."""
        runs = self.airflow.api.dag_runs(self.dag_id)
        return any(run["state"] in _AT_WORK for run in runs)

    def has_processes(self) -> bool:
        """True while a task of the placement's DAG, or what looks after it, is a process."""
        instances = (one["id"] for run in self.airflow.runs(self.dag_id) for one in run.instances())
        return any(self.airflow.processes(instance) for instance in instances)

    def stand_still(self, oncall: OnCall | None = None) -> None:
        """Let nothing copy.

        A run that was under way when its DAG was paused would stay so, and go on afterwards; a task goes on for seconds
        after its run was marked as failed, and would take marks away that a test waits for another run to take.
        """
        self.airflow.api.pause(self.dag_id)
        for run in self.airflow.api.dag_runs(self.dag_id):
            if run["state"] in _AT_WORK:
                self.airflow.api.mark_run_failed(self.dag_id, run["dag_run_id"])
            if oncall:
                oncall.leave_out(run["dag_run_id"])
        until(lambda: not (self.at_work() or self.has_processes()), "nothing copies", every=0.5)

    def oncall(self, request: pytest.FixtureRequest) -> OnCall:
        """Open the runbook that a test names by its marker."""
        [title] = request.node.get_closest_marker("runbook").args
        return OnCall(self.airflow, self.name, runbooks()[title])


@pytest.fixture(scope="module")
def placement(sandbox: Sandbox, north: HadoopFiles, airflow: RunningAirflow) -> Iterator[Placement]:
    """Let Airflow know a placement whose DAG is paused, and clusters that share a metastore."""
    at = sandbox.clusters["east"]
    metastore = ThriftSource([(at.metastore_host, at.metastore_port)], 60.0, at.user)
    east = Warehouse(at)
    users = SourceWriter(metastore, east.files, east.create_database("placed"))
    users.create_table("plain", files={"f": b"1\n2\n"})
    users.create_table("moving", files={"f": b"1\n"})
    users.create_table("there", location=f"hdfs://north/warehouse/{users.database}/there")
    users.set_parameters("there", {"twinhive.cluster": "north"})
    north.write(f"hdfs://north/warehouse/{users.database}/there/f", b"3\n")
    files, made = airflow.policies, Placement(airflow, users)
    before = (files.directory / "clusters.yaml").read_text()
    clusters = yaml.safe_load(before)
    there = sandbox.north
    # Airflow's connections were made before north was there.
    file_system = {"uri": there.hdfs_uri, "user": there.user, "hadoop": dict(there.hadoop_properties)}
    clusters["clusters"]["north"] = {
        "metastore": {"of": "east"},
        "file_system": file_system,
        "job_tracker": {"connection": "east_spark"},
    }
    files.write("clusters.yaml", clusters)
    (files.directory / "placements").mkdir(exist_ok=True)
    document = {"placement": made.name, "database": users.database, "cluster": "north"}
    files.write(f"placements/{made.name}.yaml", {**document, "tables": {"exclude": ["moving"]}})
    # Spark's own client of metastores is too old for one of Hive 4.
    conf = {key: value for key, value in spark_conf(at).items() if key.startswith("spark.sql.hive.metastore")}
    said = _CONSUMER.format(dag=QUERY, database=users.database, config=files.directory, conf=conf)
    (airflow.consumers / f"{QUERY}.py").write_text(said, encoding="utf-8")

    def known() -> bool:
        airflow.api.parse_again(f"{FIRST}.bootstrap")
        return {made.dag_id, MOVE, QUERY} <= set(airflow.api.dag_ids())

    until(known, "Airflow knows the placement, the move and the query", every=0.5)
    airflow.api.pause(made.dag_id)
    yield made
    airflow.api.pause(made.dag_id)
    (files.directory / f"placements/{made.name}.yaml").unlink()
    (airflow.consumers / f"{QUERY}.py").unlink()
    files.write("clusters.yaml", before)
    metastore.close()
    east.close()


@pytest.mark.nightly(
    "tests/dags/tasks/test_cluster_sql.py::test_a_copy_that_a_placement_makes_is_waited_for",
    "tests/dags/tasks/test_cluster_sql.py::test_a_statement_is_submitted_to_the_cluster_where_it_fits",
)
def test_a_task_waits_for_a_copy_and_runs_where_it_is(placement: Placement) -> None:
    airflow = placement.airflow
    placement.stand_still()
    # A copy may be fresh by now.
    placement.users.insert("plain", None, {"stale": b"9\n"})
    run = airflow.trigger(QUERY)
    run.wait_for("query", "deferred")
    airflow.api.unpause(placement.dag_id)
    assert run.wait() == "success", run.log("query")[-4000:]
    airflow.api.pause(placement.dag_id)
    log, [instance] = run.log("query"), run.instances("query")
    why = "it reads tables of it, and has copies of all others that it reads"
    assert f"runs on north: {why}" in log
    assert "passed over east: " in log
    assert airflow.api.xcom(QUERY, run.run_id, "query", "return_value") == {"cluster": "north", "why": why}
    assert instance["rendered_map_index"] == f"north: {why}"


@pytest.mark.runbook("A copy stays stale")
def test_a_copy_stays_stale(placement: Placement, request: pytest.FixtureRequest) -> None:
    oncall, users = placement.oncall(request), placement.users
    oncall.green_run(COPIES)
    placement.stand_still()
    users.insert("plain", None, {"more": b"4\n"})
    assert placement.standing()[1] == 1
    placement.airflow.api.unpause(placement.dag_id)

    def made() -> Run | None:
        for run in placement.airflow.runs(placement.dag_id):
            if "success" in run.states().get("publish", set()) and "marks go" in run.log("list_copies"):
                return run
        return None

    run = until(made, "the copy is made anew", every=1)
    oncall.read(run, "list_copies", "their marks go")
    oncall.read(run, "publish", "copies are marked")
    until(lambda: placement.standing() == (1, 0, 0), "all is fresh", every=1)
    assert oncall.unread() == []


@pytest.mark.runbook("A cluster has no room for copies")
def test_a_cluster_has_no_room_for_copies(
    placement: Placement,
    north: HadoopFiles,
    request: pytest.FixtureRequest,
) -> None:
    oncall, airflow = placement.oncall(request), placement.airflow
    oncall.green_run(COPIES)
    placement.stand_still(oncall)
    staging = airflow.policies.wiring(placement.name).policy.staging
    java, path, unlimited = north._client.java, north._path(staging), 2**63 - 1
    summary = java.getContentSummary(path)
    java.setQuota(path, int(summary.getFileCount() + summary.getDirectoryCount()) + 30, unlimited)
    placement.users.insert("plain", None, {f"many{number}": b"5\n" for number in range(60)})
    oncall.trigger(COPIES)

    run = oncall.red_run("list_copies", COPIES, for_good=True)
    oncall.read(run, "list_copies", "there is not enough room", "names left by quota")
    java.setQuota(path, -1, -1)
    oncall.clear(run, "list_copies")
    assert placement.standing() == (1, 0, 0)
    assert oncall.unread() == []


@pytest.mark.runbook("Tables have to leave a cluster")
def test_tables_have_to_leave_a_cluster(
    placement: Placement,
    north: HadoopFiles,
    request: pytest.FixtureRequest,
) -> None:
    oncall, airflow, users = placement.oncall(request), placement.airflow, placement.users
    form: dict[str, Any] = {
        "table": f"{users.database}.moving",
        "cluster": "north",
        "root": f"hdfs://north/home/{users.database}",
    }
    planned = airflow.trigger(MOVE, **form)
    assert planned.wait() == "success", planned.log("move")[-3000:]
    oncall.read(planned, "move", "marked as being moved", "becomes a copy")
    place = users.location("moving")
    stopped = threading.Event()

    def write(own: int) -> None:
        for number in itertools.count():
            if stopped.is_set():
                return
            users.files.write(f"{place}/late{own}{number % 5}", b"6\n")

    # Several at once: while HDFS is slow to take the file of one, the move finds no moment in which nothing changes.
    writers = [threading.Thread(target=write, args=(own,)) for own in range(6)]
    for writer in writers:
        writer.start()
    try:
        run = airflow.trigger(MOVE, **form, dry_run=False)
        ended = {"failed", "up_for_retry", "success"}
        found = until(lambda: run.states().get("move", set()) & ended, "the move gives up", 600, every=1)
        assert "success" not in found, run.log("move")[-3000:]
        oncall.read(run, "move", "written all the time")
    finally:
        stopped.set()
        for writer in writers:
            writer.join()
    oncall.clear(run, "move")
    before = contents(users.files, place)
    assert users.location("moving").startswith("hdfs://north/home/")
    assert contents(north, users.location("moving")) == before and len(before) > 1
    assert users.table("moving").parameters["twinhive.cluster"] == "north"
    assert oncall.unread() == []
