"""Airflow's containers of docker-compose.yml, judged by Airflow itself."""

from pathlib import Path

import pytest
from airflow.cli.cli_parser import get_parser
from airflow.configuration import conf
from cryptography.fernet import Fernet

from sandbox.airflow.airflow_server import AirflowServer
from sandbox.layout import Layout
from sandbox.ports import PortBlock
from tests.support.compose_file import airflow_services, environment, example_variables, services

PREFIX = "AIRFLOW__"
# What may differ from the sandbox's Airflow, and why.
PATHS = {"CORE__DAGS_FOLDER", "CORE__PLUGINS_FOLDER", "CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE"}
ADDRESSES = {"API__BASE_URL", "CORE__EXECUTION_API_SERVER_URL", "DATABASE__SQL_ALCHEMY_CONN"}
SECRETS = {"API__SECRET_KEY", "API_AUTH__JWT_SECRET", "CORE__FERNET_KEY"}
HEALTH = {"SCHEDULER__ENABLE_HEALTH_CHECK"}  # its port would be open to all in the sandbox
# In the sandbox only: loopback, two cores, tests that cannot wait.
SANDBOX_ONLY = {
    *("API__HOST", "API__PORT", "API__WORKERS"),
    *("SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME", "DAG_PROCESSOR__REFRESH_INTERVAL"),
}


def settings(variables: dict[str, str]) -> dict[str, str]:
    return {key.removeprefix(PREFIX): value for key, value in variables.items() if key.startswith(PREFIX)}


@pytest.mark.parametrize("key", sorted(settings(environment("airflow-scheduler"))))
def test_a_setting_exists_in_this_airflow(key: str):
    section, option = key.lower().split("__")
    assert option in conf.configuration_description[section]["options"]


@pytest.mark.parametrize("service", airflow_services())
def test_all_parts_have_the_same_settings_secrets_and_files(service: str):
    first = airflow_services()[0]
    differing = environment(service).items() ^ environment(first).items()
    assert {key for key, _ in differing} <= {"AIRFLOW_ADMIN_PASSWORD"}
    assert services()[service]["volumes"] == services()[first]["volumes"]
    assert services()[service]["image"] == services()[first]["image"]


def test_settings_are_those_of_the_sandboxs_airflow(tmp_path: Path):
    sandbox = AirflowServer(Layout(tmp_path), PortBlock(21000), "postgresql://x", "postgresql://y", dict)
    theirs = settings(sandbox.launch().environment)
    ours = settings(environment("airflow-scheduler"))
    assert theirs.keys() - ours.keys() == SANDBOX_ONLY
    assert ours.keys() <= theirs.keys()
    assert {key for key in ours if ours[key] != theirs[key]} == PATHS | ADDRESSES | SECRETS | HEALTH


@pytest.mark.parametrize("service", airflow_services())
def test_the_command_is_one_of_airflows(service: str):
    words = services()[service]["command"]
    if words[0] == "bash":
        words = words[2].rpartition("exec ")[2].split()
    assert words[0] == "airflow"
    get_parser().parse_args(words[1:])


def test_the_example_key_encrypts():
    Fernet(example_variables()["AIRFLOW_FERNET_KEY"].encode())
