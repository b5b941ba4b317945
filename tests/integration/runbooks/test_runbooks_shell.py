"""Paste the shell functions of docs/runbooks.md into a shell, and use them on a running Airflow."""

import os
import shutil
import subprocess

import pytest

from tests.integration.airflow_fixtures import FIRST, RunningAirflow
from tests.support.runbooks import shell_functions

TOOLS = ("bash", "curl", "jq")
pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.airflow,
    pytest.mark.skipif(not all(map(shutil.which, TOOLS)), reason=f"needs {', '.join(TOOLS)}"),
]
DAG = f"{FIRST}.operate"


def shell(airflow: RunningAirflow, command: str) -> list[str]:
    """Run a command after the functions; return the lines it prints."""
    api = airflow.api
    access = {"AIRFLOW": api.url, "AIRFLOW_USER": api.username, "AIRFLOW_PASSWORD": api.password}
    script = f"set -euo pipefail\n{shell_functions()}\n{command}"
    done = subprocess.run(
        ["bash", "-c", script], env={**os.environ, **access}, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.thorough
def test_the_functions_trigger_look_read_and_clear(airflow: RunningAirflow) -> None:
    [run] = shell(airflow, f"""operate {FIRST} '{{"operation": "status"}}'""")
    assert airflow.api.wait(DAG, run) == "success"
    assert airflow.api.dag_run(DAG, run)["conf"] == {"operation": "status", "dry_run": False}
    assert shell(airflow, f"runs {DAG}")[0] == f"success {run}"
    assert shell(airflow, f"tasks {DAG} '{run}'") == ["success 1 operate -1"]
    assert "phase: absent" in shell(airflow, f"log {DAG} '{run}' operate 1")

    assert shell(airflow, f"clear_task {DAG} '{run}' operate") == ["operate"]
    assert airflow.api.wait(DAG, run) == "success"
    assert shell(airflow, f"tasks {DAG} '{run}'") == ["success 2 operate -1"]

    [run] = shell(airflow, f"trigger {DAG}")
    assert airflow.api.dag_run(DAG, run)["conf"] == {}
