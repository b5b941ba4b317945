"""Mark a day of flights as done on east, and see who hears of it: a listener, west, and a DAG that reads west."""

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import yaml

from demo.names import CONFIG, DATABASE
from demo.showing import background, look, print_lines, run, title
from demo.twin import remove_database
from sandbox import Sandbox
from twinhive.publishing.messages.event_announcements import OWN_DATABASE

CONSUMER = "flights_of_a_day"
CONSUMERS = Path(__file__).resolve().parent / "consumers"
TABLE, DAY = f"{DATABASE}.flights", "month=12/day=25"
_SPEC = "day=25/month=12"
_SECONDS = 900.0


def sets(box: Sandbox) -> None:
    """Start a DAG on the replica by the completeness of a day."""
    title("Sets: a consumer on west starts when a day is complete, and not at a time of day")
    if CONSUMER not in box.airflow.dag_ids():
        raise SystemExit(f"Airflow does not know the DAG {CONSUMER}: start it with `make demo-down`, then `make demo`")
    box.up("activemq")
    os.environ.update(box.environment())
    with tempfile.TemporaryDirectory(prefix="twinhive-tour-") as directory, ExitStack() as at_end:
        _configure(Path(directory))
        os.environ["TWINHIVE_CONFIG"] = directory
        at_end.callback(os.environ.pop, "TWINHIVE_CONFIG")
        at_end.callback(_unmark)
        at_end.callback(_end_messages, box)
        _unmark()
        _walk(box)


def _walk(box: Sandbox) -> None:
    look("somebody's DAG reads west's replica; it has no schedule, but an asset with a partition for each set:")
    run("grep", "-v", "^$", str(CONSUMERS / f"{CONSUMER}.py"), show=f"cat demo/consumers/{CONSUMER}.py")
    before = {one["dag_run_id"] for one in box.airflow.dag_runs(CONSUMER)}
    look("a publisher on each side tells a message broker what happens there; somebody listens to west:")
    with _publisher("east"), _publisher("west"), _listener("west") as heard:
        look("the producer has loaded a day, and says so on east, where the day is:")
        run("twinhive", "sets", "mark", "east", TABLE, DAY, "--token", "tour")
        look("west shows the set when it has the same files, and its publisher says so:")
        print_lines(_until(heard, "a message of west"))
        run("twinhive", "sets", "list", "west", TABLE)
    look("and the consumer has started by itself, with the day as its partition:")
    ended = _until(lambda: _new_run(box, before), f"a run of {CONSUMER}")
    print_lines(f"{CONSUMER}  {ended['dag_run_id']}  {ended['state']}  partition {ended.get('partition_key')}")
    if ended["state"] != "success":
        raise SystemExit(f"the run of {CONSUMER} has not succeeded: look at it at {box.airflow.url}/dags/{CONSUMER}")
    look(
        "the page shows it as well: Replication, flights, Sets. More: docs/sets.md, docs/messages.md, docs/consumers.md"
    )


def _new_run(box: Sandbox, before: set[str]) -> Any:
    runs = box.airflow.dag_runs(CONSUMER)
    return next(
        (one for one in runs if one["dag_run_id"] not in before and one["state"] in ("success", "failed")), None
    )


@contextmanager
def _publisher(cluster: str) -> Iterator[None]:
    with background("twinhive", "publish", cluster, "--name", "tour", "--poll", "0.5"):
        yield


@contextmanager
def _listener(cluster: str) -> Iterator[Callable[[], str]]:
    """Listen; what is yielded returns the first message of a set that was heard, '' before."""
    with background("twinhive", "listen", cluster, TABLE, "--kind", "SET_DONE") as output:

        def heard() -> str:
            lines = output.read_text().splitlines()
            return next((line for line in lines if _SPEC in line), "")

        _until(lambda: "listening" in output.read_text(), "the listener")
        yield heard


def _until(happens: Callable[[], Any], what: str) -> Any:
    until = time.monotonic() + _SECONDS
    while not (found := happens()):
        if time.monotonic() > until:
            raise SystemExit(f"{what} did not come within {_SECONDS:.0f} s; is the DAG flights.incremental paused?")
        time.sleep(0.2)
    return found


def _unmark() -> None:
    subprocess.run(["twinhive", "sets", "unmark", "east", TABLE, DAY], capture_output=True, check=False)


def _end_messages(box: Sandbox) -> None:
    """Let the monitor be calm again: a publisher that has run once is missed from then on, and so is its broker."""
    box.stop("activemq")
    for name in ("east", "west"):
        remove_database(box.clusters[name], OWN_DATABASE)


def _configure(directory: Path) -> None:
    """Write the demo's configuration, with a broker for both clusters."""
    file = yaml.safe_load((CONFIG / "clusters.yaml").read_text(encoding="utf-8"))
    for cluster in file["clusters"].values():
        cluster["messages"] = {"broker": "broker", "reader": "broker_reader", "databases": [DATABASE]}
    (directory / "policies").mkdir()
    (directory / "clusters.yaml").write_text(yaml.safe_dump(file, sort_keys=False), encoding="utf-8")
    policy = (CONFIG / "policies" / "flights.yaml").read_text(encoding="utf-8")
    (directory / "policies" / "flights.yaml").write_text(policy, encoding="utf-8")
