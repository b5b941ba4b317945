"""Let west take over the flights from east, write there, and fail back, by the DAGs that on-call uses."""

import json
import sys
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

from demo.names import CONFIG, DATABASE
from demo.showing import look, print_lines, run, say, title
from sandbox import Sandbox
from sandbox.airflow.airflow_api import AirflowApi
from sandbox.errors import SandboxError
from twinhive.core.model.marks import Phase, ReplicaState
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.runtime.wiring.policy_wiring import Wiring

THERE, BACK = DATABASE, f"{DATABASE}_back"
_WAITS_FOR_A_PERSON = ("deferred", "awaiting_input")
_SECONDS = 1_800.0
_CARRIER = "TOUR"


def failover(box: Sandbox) -> None:
    """Let west take the flights over."""
    title("Failover: west takes the flights over")
    runs = Runs.of(box)
    look("what would keep west from taking over? A dry run, the default of the form, reads only:")
    runs.green(f"{THERE}.failover", show="prepare")
    look("now in earnest. A person approves; a fence keeps writers away from east; both sides are proved equal:")
    runs.green(f"{THERE}.failover", {"dry_run": False}, show="promote")
    _pause(runs, THERE, BACK)
    look("nothing is brought into west any more:")
    run("twinhive", "run", THERE, "incremental", refused=True)
    look("the next chapters go on from here: writes, failback, home, twin")


def writes(box: Sandbox) -> None:
    """Write on west; the chapter failover comes before."""
    title("Writes: users go on on west")
    Runs.of(box, after="failover")
    _refuse_a_replica()
    look("they write managed and external tables:")
    _spark(
        "west",
        f"INSERT INTO {DATABASE}.airlines VALUES ('{_CARRIER}', 'Written on west')",
        f"INSERT INTO {DATABASE}.delays VALUES ('{_CARRIER}', 1.0)",
        *_rows(),
    )


def failback(box: Sandbox) -> None:
    """Make east the replica of west; the chapter writes comes before."""
    title("Failback: east becomes the replica of west, with all that was written there")
    runs = Runs.of(box, after="writes")
    look("east becomes the replica of west. Only what differs is copied; external tables return to their own paths:")
    runs.green(f"{BACK}.failback", {"dry_run": False}, show="verify")


def home(box: Sandbox) -> None:
    """Let east take over again; the chapter failback comes before."""
    title("Home again: east takes over from west, with all that was written there")
    runs = Runs.of(box, after="failback")
    runs.green(f"{BACK}.failover", {"dry_run": False}, show="promote")
    _pause(runs, BACK, THERE)
    look("what was written on west is on east:")
    _spark("east", *_rows())


def twin(box: Sandbox) -> None:
    """Make west the replica that it was; the chapter home comes before."""
    title("The twin again: west follows east as before")
    Runs.of(box, after="home").green(f"{THERE}.failback", {"dry_run": False}, show="verify")
    run("twinhive", "status", THERE)
    look("step by step, with what to do when a task is red: docs/runbooks.md, and docs/failover.md")


def _refuse_a_replica() -> None:
    """End here while west follows: what users write into a replica differs from its source."""
    if not has_west_taken_over():
        raise SystemExit("west has not taken the flights over; first: python -m demo.tour failover")


def has_west_taken_over() -> bool:
    """Tell whether the tour has stopped while west was the primary."""
    wiring = Wiring.of(load_configuration(CONFIG), THERE, resolve_from_environment)
    database = wiring.read_ports().replica.database(DATABASE)
    return database is not None and ReplicaState.read(database.parameters).phase is Phase.PROMOTED


def _rows() -> list[str]:
    return [f"SELECT * FROM {DATABASE}.{table} WHERE carrier = '{_CARRIER}'" for table in ("airlines", "delays")]


def _pause(runs: "Runs", away: str, other: str) -> None:
    """Let the DAGs of one direction rest, and those of the other run, as people do after each switch."""
    phases = [one.partition(".")[2] for one in sorted(runs.known) if one.startswith(f"{BACK}.")]
    moving = [phase for phase in phases if phase in ("incremental", "external", "scan")]
    look(f"people pause the DAGs of {away}, which refuse from now on, and let those of {other} run:")
    for phase in moving:
        say(f"[bold]$[/] pause {away}.{phase}; unpause {other}.{phase}")
        runs.airflow.pause(f"{away}.{phase}")
        runs.airflow.unpause(f"{other}.{phase}")


class Runs:
    """Start DAGs as people do in the page or by REST, and answer what they ask."""

    def __init__(self, airflow: AirflowApi, known: Collection[str], after: str) -> None:
        self.airflow, self.known, self._after = airflow, known, after

    @classmethod
    def of(cls, box: Sandbox, *, after: str = "") -> "Runs":
        """Return those of a demo with policies in both directions, for the chapter `after` another one."""
        known = frozenset(box.airflow.dag_ids())
        if f"{BACK}.failback" not in known:
            raise SystemExit(f"Airflow does not know the DAG {BACK}.failback: `make demo-down`, then `make demo`")
        return cls(box.airflow, known, after)

    def green(self, dag_id: str, conf: Mapping[str, Any] | None = None, *, show: str = "") -> None:
        """Run a DAG to its end; what it asks a person is answered."""
        began = time.monotonic()
        say(f"\n[bold]$[/] trigger {dag_id} {json.dumps(dict(conf)) if conf else ''}")
        run_id = self.airflow.trigger(dag_id, conf)
        if conf:
            self._until(dag_id, run_id, lambda states: self._answered(dag_id, run_id, states))
            say(f"[bold]$[/] approve {dag_id} {run_id}")
        self._until(dag_id, run_id, lambda states: self.airflow.dag_run(dag_id, run_id)["state"] == "success")
        print_lines(self._said(dag_id, run_id, show))
        say(f"[dim]{time.monotonic() - began:.0f} s[/]")

    def _answered(self, dag_id: str, run_id: str, states: Mapping[str, str]) -> bool:
        if states.get("approve") in _WAITS_FOR_A_PERSON:
            with suppress(SandboxError):  # answered already
                self.airflow.answer(dag_id, run_id, "approve", "Approve")
        return states.get("approve") == "success"

    def _until(self, dag_id: str, run_id: str, is_so: Callable[[Mapping[str, str]], bool]) -> None:
        ends = time.monotonic() + _SECONDS
        while True:
            states = {one["task_id"]: str(one["state"]) for one in self.airflow.task_instances(dag_id, run_id)}
            if is_so(states):
                return
            if "failed" in states.values() or time.monotonic() > ends:
                missing = f"\nwas the chapter before seen? python -m demo.tour {self._after}" if self._after else ""
                raise SystemExit(
                    f"{dag_id}, run {run_id}, does not go on: {states}; look at it at {self.airflow.url}{missing}"
                )
            time.sleep(1.0)

    def _said(self, dag_id: str, run_id: str, task: str) -> str:
        """Return what a task has said to people, without what Airflow says of itself."""
        (one,) = (one for one in self.airflow.task_instances(dag_id, run_id) if one["task_id"] == task)
        lines = self.airflow.log(dag_id, run_id, task, one["try_number"]).splitlines()
        words = (
            "would ",
            "equal at",
            "has taken over",
            "now: ",
            "names and lengths",
            "not replicated",
            "the replica is",
        )
        return "\n".join(line for line in lines if any(word in line for word in words))


def _spark(side: str, *statements: str) -> None:
    run(sys.executable, "-m", "demo.side_sql", side, *statements)
