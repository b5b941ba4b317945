"""Measure a cycle of many policies that have nothing to do: one Airflow on this machine, real metastores and HDFS.

    python -m benchmarks.idle --policies 500 --instance idle

Every policy gets its databases and the marks of a replica that follows; what a run does then is what it does on a
replica that was copied. All of them are started every two minutes, which is more than can be run: how many are, for so
many minutes, is the machine's limit. Prints the CPU seconds and the wall time of a run, runs a second, how long a cycle
takes at that, and the floor that the rule gives; what the monitor's measuring costs; and by how many connections the
triggerer watches the source.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import sqlalchemy

from benchmarks.measuring import load_average
from benchmarks.sides import Clusters
from sandbox import Sandbox
from sandbox.running import processes
from tests.support.policies import PolicyFiles
from twinhive.core.model.changes.events import Position
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.core.model.objects import Database
from twinhive.core.ports import MetastoreWriter
from twinhive.hive.events.reader import position_at
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.runtime.wiring.lag_wiring import measure_policies
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.dags.schedule import floor_minutes

_TICKS = os.sysconf("SC_CLK_TCK")
_GIVE_UP_SECONDS = 7_200


def main() -> None:
    """Make the policies, run one cycle, and print what it cost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policies", type=int, default=500)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--instance", default="idle")
    options = parser.parse_args()
    box = Clusters.start(options.instance).box
    files = PolicyFiles(Path(tempfile.mkdtemp(prefix="twinhive-idle-")) / "config")
    make_followers(files, options.policies)
    _measure_monitor(files)
    box.stop("airflow")
    environment = {
        "TWINHIVE_CONFIG": str(files.directory),
        "TWINHIVE_IDLE_RUNS_PER_MINUTE": "1000000",
        # With thousands of DAGs, parsing every half a minute is what a machine is busy with.
        "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "600",
        "AIRFLOW__DAG_PROCESSOR__DAG_FILE_PROCESSOR_TIMEOUT": "600",
        "AIRFLOW__CORE__DAGBAG_IMPORT_TIMEOUT": "600",
    }
    began = time.time()
    box.start("airflow", environment=environment)
    print(f"load average before: {load_average()}", flush=True)
    Cycle(box, options.policies, options.minutes * 60, began).run()


def make_followers(files: PolicyFiles, count: int) -> None:
    """Write policies whose replicas follow, with nothing in their databases."""
    names = [f"idle_{number:04d}" for number in range(count)]
    for name in names:
        files.add(name, external_tables={"include": False}, max_lag=600)
    configuration = load_configuration(files.directory)
    ports = Wiring.of(configuration, names[0], resolve_from_environment).write_ports()
    source = cast(MetastoreWriter, ports.source)  # a policy only reads it
    there = set(ports.source.database_names())
    for name in names:
        if name not in there:
            source.create_database(Database(name, None, None, {}, thrift="{}"))
    position = position_at(ports.source, ports.source.current_event_id())
    for name in names:
        if ports.replica.database(name) is None:
            ports.replica.create_database(
                Database(name, None, None, _marks(name, ports.source.log_id(), position), "{}")
            )


def _marks(policy: str, log_id: str, position: Position) -> dict[str, str]:
    return ReplicaState(Phase.FOLLOWING, policy, log_id, dump="benchmark", position=position).written()


def _measure_monitor(files: PolicyFiles) -> None:
    began, cpu = time.monotonic(), time.process_time()
    found = measure_policies(load_configuration(files.directory), resolve_from_environment)
    following = sum(lag.phase == "following" for lag in found)
    print(
        f"measuring the lag of {following} of {len(found)} policies: {time.monotonic() - began:.1f} s, "
        f"{time.process_time() - cpu:.1f} CPU seconds"
    )


@dataclass
class Cycle:
    """Runs of every policy, as many as there can be in so many `seconds`."""

    box: Sandbox
    policies: int
    seconds: float
    began: float

    def run(self) -> None:
        """Let them run, and print what that cost."""
        known = self._until(lambda: self._count("select count(*) from dag where not is_stale") >= 6 * self.policies)
        print(f"Airflow knows the DAGs after {known - self.began:.0f} s", flush=True)
        first = self._until(lambda: self._ended() > 0)
        at, cpu = self._ended(), self._cpu()
        last = self._until(lambda: time.time() > first + self.seconds)
        wall, spent, runs = last - first, self._cpu() - cpu, self._ended() - at
        seconds = self._number(
            "select avg(extract(epoch from end_date - start_date)) from task_instance "
            "where task_id = 'window' and state = 'success'"
        )
        print(
            f"{runs} runs in {wall:.0f} s: {runs / wall:.2f} runs a second; a run costs {spent / runs:.1f} CPU seconds "
            f"and lasts {seconds:.1f} s; load average {load_average()}"
        )
        floor = floor_minutes(2, self.policies, share=0.75)
        print(f"a cycle of {self.policies}: {wall * self.policies / runs / 60:.0f} min, its floor: {floor} min")
        print(f"connections of the triggerer to the source's metastore: {self._watching()}")
        print(f"failed runs: {self._count(_ENDED.format(state='failed'))}", flush=True)

    def _ended(self) -> int:
        return self._count(_ENDED.format(state="success"))

    def _count(self, query: str) -> int:
        return int(self._number(query))

    def _number(self, query: str) -> float:
        engine = sqlalchemy.create_engine(self.box.postgres_url("airflow"))
        try:
            with engine.connect() as connection:
                return float(connection.execute(sqlalchemy.text(query)).scalar() or 0)
        except sqlalchemy.exc.ProgrammingError:  # the tables are still being made
            return 0.0
        finally:
            engine.dispose()

    def _until(self, happens: Callable[[], bool]) -> float:
        give_up = time.time() + _GIVE_UP_SECONDS
        while not happens():
            if time.time() > give_up:
                raise SystemExit(f"not done after {_GIVE_UP_SECONDS} s: {self._ended()} runs ended")
            time.sleep(1)
        return time.time()

    def _cpu(self) -> float:
        """Return the CPU seconds of Airflow and of its database, of processes that have ended too."""
        family = [one for name in ("airflow", "postgres") for one in processes.members(self.box.layout.pid_file(name))]
        return sum(_cpu_of(entry.pid) for entry in family)

    def _watching(self) -> int:
        port = self.box.clusters["east"].metastore_port
        family = processes.members(self.box.layout.pid_file("airflow"))
        return sum(_connections(entry.pid, port) for entry in family if "triggerer" in _title(entry.pid))


_ENDED = "select count(*) from dag_run where dag_id like 'idle#_%.incremental' escape '#' and state = '{state}'"


def _cpu_of(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS


def _title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def _connections(pid: int, port: int) -> int:
    """Count the TCP connections of one process to a port."""
    try:
        own = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()}
        rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()]
    except OSError:
        return 0
    remote = f":{port:04X}"
    return sum(row[2].endswith(remote) and f"socket:[{row[9]}]" in own for row in rows if len(row) > 9)


if __name__ == "__main__":
    main()
