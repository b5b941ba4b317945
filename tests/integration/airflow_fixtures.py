"""Operate one real Airflow as on-call does: add policies, trigger, look, clear; and kill what it runs."""

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sandbox import Sandbox
from sandbox.airflow.airflow_api import AirflowApi
from sandbox.errors import SandboxError
from sandbox.ports import is_free
from sandbox.running import processes
from tests.integration.damage import frozen
from tests.integration.spark_sql import ONE_WORKER
from tests.support.policies import PolicyFiles
from twinhive.runtime.pipeline.phases import PHASES

# There is one policy from the start, because Airflow parses a file on demand only if it knows a DAG of it.
FIRST = "first"
MONITOR = "twinhive.monitor"
_SETTINGS = {
    # What a killed Airflow left running is found soon by the next one, not after five minutes.
    "AIRFLOW__SCHEDULER__SCHEDULER_HEARTBEAT_SEC": "2",
    "AIRFLOW__SCHEDULER__SCHEDULER_HEALTH_CHECK_THRESHOLD": "12",
    "AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "4",
    # It looks for work less often than the sandbox's own, which nobody shares a core with, and counts nothing.
    "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "1",
    **{f"AIRFLOW__SCHEDULER__{kind}_METRICS_INTERVAL": "3600" for kind in ("POOL", "TI", "DAGRUN")},
    # Tests ask for a file to be parsed when they have changed what it reads.
    "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "120",
    **{
        f"AIRFLOW_CONN_{cluster}_SPARK": json.dumps({"conn_type": "spark", "host": ONE_WORKER})
        for cluster in ("EAST", "WEST")
    },
    # Two cores that also run clusters and Spark are slow at times, which is not what these tests are about.
    "AIRFLOW__CORE__DAGBAG_IMPORT_TIMEOUT": "120",
    "AIRFLOW__DAG_PROCESSOR__DAG_FILE_PROCESSOR_TIMEOUT": "180",
}
_SPARK_JOB = "copy_files.py"
WAITS_FOR_A_PERSON = ("awaiting_input", "deferred")
WAITS_FOR_WHAT_IS_MISSING = ("running", "up_for_reschedule")
"""A sensor looks for a while, then gives its slot back for a while."""


def until(happens: Callable[[], Any], what: str, seconds: float = 900, every: float = 0.5) -> Any:
    """Wait until something is true, and return it."""
    deadline = time.monotonic() + seconds
    while not (value := happens()):
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s in vain until {what}"
        time.sleep(every)
    return value


class Operator(AirflowApi):
    """Do what the pages offer besides."""

    def parse_again(self, dag_id: str) -> None:
        """Ask for the file of a DAG to be parsed now; asking twice is refused, and as good."""
        with suppress(SandboxError):
            self._send("PUT", f"/parseDagFile/{self._get(f'/dags/{dag_id}')['file_token']}")

    def add_connection(self, connection_id: str, conn_type: str, **more: Any) -> None:
        """Add a connection to Airflow's own database."""
        self._send("POST", "/connections", {"connection_id": connection_id, "conn_type": conn_type, **more})

    def pause_like(self, pattern: str) -> None:
        """Pause all DAGs whose ids are like an SQL pattern."""
        self._send("PATCH", f"/dags?limit=100&dag_id_pattern={quote(pattern)}", {"is_paused": True})

    def mark_run_failed(self, dag_id: str, run_id: str) -> None:
        """Press 'mark as failed' of a whole run."""
        self._send("PATCH", f"/dags/{dag_id}/dagRuns/{run_id}", {"state": "failed"})

    def clear_alone(self, dag_id: str, run_id: str, task_id: str) -> None:
        """Clear a task, all its mapped instances, without what follows it."""
        body = {"dry_run": False, "dag_run_id": run_id, "only_failed": False, "reset_dag_runs": True}
        self._send("POST", f"/dags/{dag_id}/clearTaskInstances", {**body, "task_ids": [task_id]})


class RunningAirflow:
    """Be the Airflow of the whole test session, with a configuration that tests add policies to."""

    def __init__(self, box: Sandbox, directory: Path) -> None:
        self.box = box
        self.api = Operator(box.airflow.url, box.airflow.username, box.airflow.password)
        self.policies = PolicyFiles(directory)
        self.policies.add(FIRST)
        # DAGs of others, who read the replicas: files that tests put here are found soon.
        self.consumers = directory.with_name("consumers")
        self.consumers.mkdir(exist_ok=True)

    def start(self) -> None:
        """Start it over this configuration."""
        environment = {
            **_SETTINGS,
            "AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST": json.dumps(self._bundles()),
            "TWINHIVE_CONFIG": str(self.policies.directory),
        }
        self.box.start("airflow", environment=environment)
        self.reload(FIRST, parse=False)
        # Each minute it looks at all policies, and would not let a small machine rest: tests let it run when they look.
        self.api.pause(MONITOR)

    def measure(self) -> "Run":
        """Let the monitor look at all policies once; return its run, which has ended."""
        self.api.unpause(MONITOR)
        try:
            run = self.trigger(MONITOR)
            run.wait()
        finally:
            self.api.pause(MONITOR)
        return run

    def _bundles(self) -> list[dict[str, Any]]:
        local = "airflow.dag_processing.bundles.local.LocalDagBundle"
        folders = {"dags-folder": {}, "consumers": {"path": str(self.consumers)}}
        return [{"name": name, "classpath": local, "kwargs": kwargs} for name, kwargs in folders.items()]

    def kill(self) -> None:
        """End it and all that its tasks have started, at once."""
        self.box.kill("airflow")
        # Threads of a killed process may outlive its first one for a moment.
        until(lambda: is_free(self.box.servers["airflow"].ports["http"]), "Airflow's port is free")

    def add(self, database: str, *, following: bool = False, **more: Any) -> str:
        """Add a policy and return the id of its bootstrap DAG, which may run."""
        return self.reload(self.policies.add(database, **more), following=following)

    def reload(self, policy: str, *, following: bool = False, parse: bool = True) -> str:
        """Wait until Airflow knows the DAGs of a policy that was written, and let its bootstrap run.

        The machine is small: only the policies of tests that look at it follow their sources.
        """
        self.wait_until_known(policy, parse=parse)
        if not following:
            self.api.pause(f"{policy}.incremental")
        self.api.unpause(f"{policy}.bootstrap")
        return f"{policy}.bootstrap"

    def wait_until_known(self, *policies: str, parse: bool = True) -> None:
        """Wait until Airflow knows all DAGs of some policies."""
        wanted = {f"{policy}.{phase}" for policy in policies for phase in PHASES}

        def known() -> bool:
            # A file that is just being parsed is not parsed for this request as well.
            if parse:
                self.api.parse_again(f"{FIRST}.bootstrap")
            return wanted <= set(self.api.dag_ids())

        until(known, f"Airflow knows the DAGs of {', '.join(policies)}", every=0.5)
        assert self.api.import_errors() == {}

    def trigger(self, dag_id: str, **conf: Any) -> "Run":
        """Start a run."""
        return Run(self, dag_id, self.api.trigger(dag_id, conf))

    def runs(self, dag_id: str) -> list["Run"]:
        """Return the runs of a DAG, newest first."""
        return [Run(self, dag_id, run["dag_run_id"]) for run in self.api.dag_runs(dag_id)]

    def processes(self, part: str) -> list[int]:
        """Return the processes of Airflow whose command line holds a text."""
        family = processes.members(self.box.layout.pid_file("airflow"))
        return [entry.pid for entry in family if part in _command_line(entry.pid)]

    def frozen(self, server: str) -> AbstractContextManager[None]:
        """Let a server answer nobody for a while."""
        return frozen(self.box, server)


@dataclass(frozen=True)
class Run:
    """Be one run of a DAG."""

    airflow: RunningAirflow
    dag_id: str
    run_id: str

    @property
    def policy(self) -> str:
        """Return the policy's name, which is that of its databases."""
        return self.dag_id.partition(".")[0]

    def handed_over(self) -> "Run":
        """Wait until this run has started the one that goes on from it; return that one."""
        task = self.wait_for("consolidate", "success")
        run_id = self.airflow.api.xcom(self.dag_id, self.run_id, task["task_id"], "trigger_run_id")
        return Run(self.airflow, f"{self.policy}.consolidate", run_id)

    def seconds(self) -> float:
        """Return how long a run that has ended took, from its queuing on."""
        run = self.airflow.api.dag_run(self.dag_id, self.run_id)
        queued, ended = (datetime.fromisoformat(run[key]) for key in ("queued_at", "end_date"))
        return (ended - queued).total_seconds()

    def task_seconds(self) -> dict[str, float]:
        """Return how long each task that was executed took."""
        executed = [one for one in self.instances() if one["state"] != "skipped"]
        return {one["task_id"]: round(one["duration"], 1) for one in executed}

    def wait(self) -> str:
        """Wait for the end and return the state."""
        return self.airflow.api.wait(self.dag_id, self.run_id)

    def instances(self, task: str = "") -> list[dict[str, Any]]:
        """Return the task instances whose id ends with `task`."""
        found = self.airflow.api.task_instances(self.dag_id, self.run_id)
        return [instance for instance in found if instance["task_id"].endswith(task)]

    def states(self) -> dict[str, set[str]]:
        """Return the states of each task's instances."""
        states: dict[str, set[str]] = {}
        for instance in self.instances():
            states.setdefault(instance["task_id"], set()).add(instance["state"])
        return states

    def labels(self, task: str) -> set[str]:
        """Return how the pages name the instances of a mapped task."""
        return {instance["rendered_map_index"] for instance in self.instances(task)}

    def wait_for(self, task: str, *states: str) -> dict[str, Any]:
        """Wait until some instance of a task is in one of the states; return it."""

        def found() -> list[dict[str, Any]]:
            return [instance for instance in self.instances(task) if instance["state"] in states]

        return until(found, f"{task} of {self.dag_id} is {' or '.join(states)}")[0]

    def clear(self, *tasks: str) -> None:
        """Clear tasks with all that follows them; without names, the whole run."""
        self.airflow.api.clear(self.dag_id, self.run_id, list(tasks) or None)

    def clear_alone(self, task: str) -> None:
        """Clear one task without what follows it."""
        self.airflow.api.clear_alone(self.dag_id, self.run_id, task)

    def approve(self, option: str = "Approve") -> None:
        """Answer the task `approve` as often as it asks, and not before it has waited for two seconds, as people do.

        One that comes within five seconds may be given to a task that Airflow takes for lost, as it has not noticed the
        end of the process that asked: the task asks again, and fails when that happens a few times.
        """
        waited: Counter[int] = Counter()

        def has_ended() -> bool:
            instance = self.instances("approve")[0]
            state, number = str(instance["state"]), int(instance["try_number"])
            assert state not in ("failed", "upstream_failed"), self.log("approve")[-3000:]
            if state in WAITS_FOR_A_PERSON:
                waited[number] += 1
                if waited[number] > 2:
                    with suppress(SandboxError):  # answered already
                        self.airflow.api.answer(self.dag_id, self.run_id, "approve", option)
            return state == "success"

        until(has_ended, f"{self.dag_id} takes the answer {option}", every=1.0)

    def mark_failed(self, instance: dict[str, Any]) -> None:
        """Press 'mark as failed'."""
        self.airflow.api.mark_task(self.dag_id, self.run_id, instance["task_id"], "failed", instance["map_index"])

    def log(self, task: str) -> str:
        """Return the log of the last try of a task's first instance."""
        return self._log(self.instances(task)[0], 0)

    def logs(self, task: str) -> str:
        """Return the logs of all tries of a task's first instance, one after the other."""
        last = self.instances(task)[0]
        return "\n".join(self._log(last, back) for back in reversed(range(max(last["try_number"], 1))))

    def _log(self, last: dict[str, Any], back: int) -> str:
        number = max(last["try_number"], 1) - back
        return self.airflow.api.log(self.dag_id, self.run_id, last["task_id"], number, last["map_index"])

    def kill_task(self, task: str) -> dict[str, Any]:
        """Kill the process of a running task, without a word to Airflow; return the instance."""
        instance = self.wait_for(task, "running")
        # Only the task's own process has this title; its supervisor's says LocalExecutor between the two.
        title = f"airflow worker -- {instance['id']}"
        pids = until(lambda: self.airflow.processes(title), f"the process of {task} is there")
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        return instance

    def spark_processes(self) -> list[int]:
        """Return the processes of the copy's Spark job."""
        return self.airflow.processes(_SPARK_JOB)

    def wait_for_spark(self) -> list[int]:
        """Wait until the copy's Spark job runs."""
        self.wait_for("copy", "running")
        return until(self.spark_processes, "the Spark job is there")


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
