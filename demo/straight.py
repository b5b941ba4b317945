"""Write files straight into directories of external tables, as ingestion does: the log tells nothing of it.

What the demo shows with them: the data lane (`flights.external`) finds them, and brings them to the replica.
"""

import time
from pathlib import Path

from rich.console import Console

from demo.load_flights import ARCHIVE, DATA, DELAYS
from sandbox.airflow.airflow_api import AirflowApi
from twinhive.core.model.files import ChecksumForm
from twinhive.core.ports import WritePorts
from twinhive.replication.replica.pending_files import pending_names
from twinhive.runtime.settings import load_configuration, resolve_from_environment
from twinhive.runtime.wiring.file_wiring import files as files_of
from twinhive.runtime.wiring.policy_wiring import Wiring

_FILES = {
    f"{DATA}/{DELAYS}/written_straight.csv": b"XX,42.0\nYY,43.0\n",
    f"{ARCHIVE}/written_straight": b"XX,7,31\n",
}
"""One in a table's own directory, one in the partition that lies outside of its table's."""


def wait_for_external(config: Path, policy: str, seconds: float = 1_800) -> None:
    """Wait until no external table waits for its data. Raises SystemExit when some do so for too long."""
    wiring = Wiring.of(load_configuration(config), policy, resolve_from_environment)
    files = wiring.read_ports().replica_files
    deadline = time.monotonic() + seconds
    while waiting := pending_names(files, wiring.policy):
        if time.monotonic() > deadline:
            raise SystemExit(f"still waiting for their data: {', '.join(waiting)}; look at the DAG {policy}.external")
        time.sleep(1)


def write_and_follow(airflow: AirflowApi, config: Path, policy: str, console: Console) -> None:
    """Write, start the data lane, and wait until the replica has equal files. Raises SystemExit when it does not."""
    wiring = Wiring.of(load_configuration(config), policy, resolve_from_environment)
    ports = wiring.write_ports()
    places = {path: wiring.policy.external.place(path, path) for path in _FILES}
    for path, rows in _FILES.items():
        files_of(wiring.source_endpoint).write(path, rows)
    began = time.monotonic()
    dag_id = f"{policy}.external"
    run_id = airflow.trigger(dag_id)
    state = airflow.wait(dag_id, run_id)
    missing = [path for path, place in places.items() if not _are_equal(ports, path, place)]
    if state != "success" or missing:
        raise SystemExit(f"{dag_id}, run {run_id}, ended as {state}; not on the replica: {missing or 'nothing'}")
    console.print(f"  {len(places)} files, no event of the metastore: on west after {time.monotonic() - began:.0f} s")


def _are_equal(ports: WritePorts, path: str, place: str) -> bool:
    if ports.replica_files.status(place) is None:
        return False
    form = ChecksumForm.COMPARISON
    return ports.source_files.checksum(path, form) == ports.replica_files.checksum(place, form)
