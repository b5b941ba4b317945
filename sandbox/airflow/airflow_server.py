"""Run Airflow on the sandbox's PostgreSQL, with the checkout's DAGs and plugins."""

import base64
import json
import os
import secrets
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from sandbox.airflow.airflow_api import AirflowApi
from sandbox.configuration import LOOPBACK
from sandbox.jvm.java import spark_java_home
from sandbox.layout import Layout
from sandbox.paths import CHECKOUT
from sandbox.ports import PortBlock
from sandbox.running import processes
from sandbox.server import Launch, Server
from sandbox.spark_servers import MASTER, WORKER

NAME = "airflow"
USER = "admin"
_PARALLELISM = 8
_TASK_LOG_MEGABYTES = 300


@dataclass(frozen=True)
class AirflowSecrets:
    """Hold what all of Airflow's components must agree on over restarts."""

    fernet_key: str
    jwt_secret: str
    api_secret_key: str
    password: str


def airflow_secrets(layout: Layout) -> AirflowSecrets:
    """Return the instance's secrets, generated on first use."""
    path = layout.storage(NAME) / "secrets.json"
    if not path.exists():
        fernet_key = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
        fresh = AirflowSecrets(fernet_key, secrets.token_hex(32), secrets.token_hex(32), secrets.token_hex(8))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(json.dumps(asdict(fresh)))
    return AirflowSecrets(**json.loads(path.read_text()))


class AirflowServer(Server):
    """Be Airflow's API server, scheduler, DAG processor and triggerer together."""

    name = NAME
    depends_on = ("postgres",)
    # Their connections are only given to an Airflow that starts later.
    after = (MASTER, WORKER)
    stop_seconds = 20.0

    def __init__(
        self,
        layout: Layout,
        block: PortBlock,
        database_url: str,
        journal_url: str,
        connections: Callable[[], dict[str, str]],
    ) -> None:
        self.ports = {"http": block.airflow}
        self._layout = layout
        self._home = layout.storage(NAME)
        self._port = block.airflow
        self._database_url = database_url
        self._journal_url = journal_url
        self._connections = connections
        self._overrides: dict[str, str] = {}

    def prepare(self, overrides: Mapping[str, str]) -> None:
        """Write the password file; `overrides` are variables such as `AIRFLOW__CORE__PARALLELISM`."""
        self._overrides = dict(overrides)
        passwords = self._passwords_file
        passwords.parent.mkdir(parents=True, exist_ok=True)
        passwords.touch(mode=0o600)
        passwords.write_text(json.dumps({USER: airflow_secrets(self._layout).password}))
        trim_directory(self._home / "logs", _TASK_LOG_MEGABYTES * 1_000_000)

    def launch(self) -> Launch:
        """Return the command to run."""
        command = [sys.executable, str(Path(__file__).with_name("airflow_components.py"))]
        journal = {"TWINHIVE_JOURNAL": self._journal_url}
        environment = {**self._settings(), **journal, **self._tools(), **self._connections(), **self._overrides}
        return Launch(command, environment, directory=self._home)

    def is_ready(self) -> bool:
        """Tell whether all components say that they are healthy, and said so since they were started."""
        record = processes.read_record(self._layout.pid_file(NAME))
        # The heartbeats of a killed predecessor look healthy for half a minute.
        return record is not None and AirflowApi(self.url, USER, "").is_healthy(record.started_at)

    @property
    def url(self) -> str:
        """Return the address of Airflow's pages and API."""
        return f"http://{LOOPBACK}:{self._port}"

    @property
    def _passwords_file(self) -> Path:
        return self._home / "passwords.json"

    def _settings(self) -> dict[str, str]:
        secret = airflow_secrets(self._layout)
        settings = {
            "CORE__DAGS_FOLDER": str(CHECKOUT / "dags"),
            "CORE__PLUGINS_FOLDER": str(CHECKOUT / "plugins"),
            "CORE__LOAD_EXAMPLES": "False",
            # Before tasks are forked, so that they find our modules loaded.
            "CORE__LAZY_LOAD_PLUGINS": "False",
            "CORE__EXECUTOR": "LocalExecutor",
            "CORE__PARALLELISM": str(_PARALLELISM),
            "CORE__FERNET_KEY": secret.fernet_key,
            "CORE__EXECUTION_API_SERVER_URL": f"{self.url}/execution/",
            "CORE__SIMPLE_AUTH_MANAGER_USERS": f"{USER}:admin",
            "CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(self._passwords_file),
            "DATABASE__SQL_ALCHEMY_CONN": self._database_url,
            "API__HOST": LOOPBACK,
            "API__PORT": str(self._port),
            "API__BASE_URL": self.url,
            "API__WORKERS": "1",
            "API__SECRET_KEY": secret.api_secret_key,
            "API_AUTH__JWT_SECRET": secret.jwt_secret,
            "SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.2",
            "SCHEDULER__ENABLE_HEALTH_CHECK": "False",
            # Five minutes by default: so long does a task that a killed scheduler left wait to be taken up.
            "SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "30",
            "DAG_PROCESSOR__REFRESH_INTERVAL": "10",
            # Into the capped output: Airflow's own files for this grow without limit.
            "LOGGING__DAG_PROCESSOR_LOG_TARGET": "stdout",
            "LOGGING__COLORED_CONSOLE_LOG": "False",
        }
        return {f"AIRFLOW__{key}": value for key, value in settings.items()} | {"AIRFLOW_HOME": str(self._home)}

    def _tools(self) -> dict[str, str]:
        java_home = spark_java_home()
        directories = [str(Path(sys.executable).parent), str(java_home / "bin"), os.environ.get("PATH", os.defpath)]
        return {"PATH": os.pathsep.join(directories), "JAVA_HOME": str(java_home), "SPARK_LOCAL_IP": LOOPBACK}


def trim_directory(directory: Path, limit: int) -> None:
    """Delete the oldest files below `directory` until the rest is at most `limit` bytes."""
    files = [(path.stat().st_mtime, path.stat().st_size, path) for path in directory.rglob("*") if path.is_file()]
    excess = sum(size for _, size, _ in files) - limit
    for _, size, path in sorted(files):
        if excess <= 0:
            return
        path.unlink()
        excess -= size
