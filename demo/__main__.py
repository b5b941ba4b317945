"""Replicate a real database from east to west with Airflow, and show what came of it.

`python -m demo run` leaves everything running, `python -m demo down` stops it.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from rich.console import Console

from demo import machine
from demo.follow import follow
from demo.names import CONFIG
from demo.set_days import CONSUMERS
from demo.straight import wait_for_external, write_and_follow
from demo.summary import summary_table
from demo.switching import has_west_taken_over
from demo.twin import remove_database
from sandbox import Sandbox

POLICY = "flights"
# Output that is piped or logged has no width of its own; 80 columns would break every label.
console = Console(width=None if sys.stdout.isatty() else 120)


def main(arguments: list[str]) -> int:
    """Run the demo or stop what it left."""
    if arguments == ["run"]:
        return run()
    if arguments == ["down"]:
        Sandbox.open().down()
        console.print("stopped; what it stored stays. `make demo` starts it again, `make reset` deletes it.")
        return 0
    console.print(__doc__)
    return 2


def run() -> int:
    """Do everything, telling each step with its seconds."""
    if machine.main():
        return 1
    started = time.monotonic()
    box = Sandbox.open()
    _step("starting two clusters (east and west)", box.up)
    # What tasks and this program share: connections of the clusters as Airflow's variables.
    os.environ.update(box.environment())
    if has_west_taken_over():
        _step("starting Airflow, which the tour's chapters need", lambda: _start_airflow(box))
        console.print(
            "west has taken the flights over, as in the tour's chapter failover, and a demo begins with east\n"
            "go on with the chapters that are left: python -m demo.tour writes failback home twin\n"
            "or begin anew: make reset, then make demo",
            soft_wrap=True,
        )
        return 1
    with ThreadPoolExecutor(1) as pool:
        airflow = pool.submit(_start_airflow, box)
        _step("loading 336,776 flights into east with Spark (Airflow starts meanwhile)", _load)
        airflow.result()
    if remove_database(box.clusters["west"]):
        console.print("removed the twin of an earlier demo from west")
    state, dag_id, run_id = follow(box.airflow, POLICY, console)
    page = f"{box.airflow.url}/dags/{dag_id}/runs/{run_id.replace('+', '%2B')}"
    if state != "success":
        console.print(f"[red]the run ended as {state}[/]: look at it at {page}", soft_wrap=True)
        return 1
    _step("waiting until the data of external tables is there", lambda: wait_for_external(CONFIG, POLICY))
    _step(
        "writing files straight into directories of external tables on east",
        lambda: write_and_follow(box.airflow, CONFIG, POLICY, console),
    )
    _summarise(box)
    console.print(f"whole demo: {time.monotonic() - started:.0f} s")
    console.print(
        f"\nthe DAG {POLICY}.incremental follows from here on: what changes on east appears on west\n"
        f"Airflow: {page}\nsign in as [bold]{box.airflow.username}[/] with password "
        f"[bold]{box.airflow.password}[/]\nstop everything with: make demo-down",
        soft_wrap=True,
    )
    return 0


def _step(what: str, action: Callable[[], object]) -> None:
    started = time.monotonic()
    console.print(f"{what} ...")
    action()
    console.print(f"  done in {time.monotonic() - started:.0f} s")


def _start_airflow(box: Sandbox) -> None:
    """Start it with the DAGs of the policies, and those of others who read the replica."""
    if box.is_running("airflow"):
        return
    local = "airflow.dag_processing.bundles.local.LocalDagBundle"
    folders: dict[str, dict[str, str]] = {"dags-folder": {}, "consumers": {"path": str(CONSUMERS)}}
    bundles = [{"name": name, "classpath": local, "kwargs": kwargs} for name, kwargs in folders.items()]
    box.start("airflow", environment={"AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST": json.dumps(bundles)})


def _load() -> None:
    _program("demo.load_flights")


def _program(module: str, *arguments: str) -> str:
    """Run one of the Spark programs; its noise is shown only when it fails."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        console.print(done.stdout + done.stderr, markup=False, highlight=False)
        raise SystemExit(f"{module} failed; its output is above")
    return done.stdout


def _summarise(box: Sandbox) -> None:
    console.print("counting the rows on both sides with Spark ...")
    with ThreadPoolExecutor(2) as pool:
        east, west = pool.map(lambda name: _program("demo.count_rows", name), ("east", "west"))
    bootstrap = f"{POLICY}.bootstrap"
    newest = box.airflow.dag_runs(bootstrap)[0]["dag_run_id"]
    instances = box.airflow.task_instances(bootstrap, newest)
    console.print(summary_table(CONFIG, POLICY, instances, east, west))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
