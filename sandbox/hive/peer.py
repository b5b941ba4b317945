"""Run Hive's own statements on a cluster, above all `REPL DUMP` and `REPL LOAD`, to compare Twinhive with them.

Hive's driver runs inside this process, with MapReduce's local runner: no HiveServer2 is needed.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox.box import Sandbox
from sandbox.errors import SandboxError
from sandbox.jvm.jvm import start_jvm
from sandbox.paths import CHECKOUT

_SETTINGS = {
    "hive.execution.engine": "mr",
    "mapreduce.framework.name": "local",
    "hive.support.concurrency": "false",
    "hive.txn.manager": "org.apache.hadoop.hive.ql.lockmgr.DummyTxnManager",
    "hive.strict.managed.tables": "false",
    "hive.create.as.acid": "false",
    "hive.create.as.insert.only": "false",
    "hive.stats.autogather": "false",
    "hive.stats.column.autogather": "false",
    "hive.metastore.event.db.notification.api.auth": "false",
    # By default Hive replicates the metadata of external tables without their files.
    "hive.repl.dump.metadata.only.for.external.table": "false",
    "hive.exec.dynamic.partition.mode": "nonstrict",
    # A join in memory would be a program of its own, of Hadoop's scripts.
    "hive.auto.convert.join": "false",
    "hive.exec.scratchdir": "/tmp/hive",  # noqa: S108 (a directory in HDFS)
}

_LOCAL_DIRECTORIES = (
    "hadoop.tmp.dir",
    "hive.downloaded.resources.dir",
    "hive.exec.local.scratchdir",
    "hive.querylog.location",
    "mapreduce.cluster.local.dir",
    "mapreduce.jobtracker.staging.root.dir",
)


@dataclass(frozen=True)
class StatementResult:
    """Hold what a statement returned and how long it took."""

    statement: str
    columns: list[str]
    rows: list[list[str]]
    seconds: float


class HivePeer:
    """Be a Hive session on one cluster; a process can hold one."""

    def __init__(self, box: Sandbox, cluster: str, settings: Mapping[str, str] | None = None) -> None:
        self._jpype = start_jvm(box, cluster, "peer")
        configuration = self._jpype.JClass("org.apache.hadoop.hive.conf.HiveConf")()
        places = dict.fromkeys(_LOCAL_DIRECTORIES, str(box.layout.temporary / "hive"))
        for key, value in {**_SETTINGS, **places, **(settings or {})}.items():
            configuration.set(key, value)
        self._configuration = configuration
        self._jpype.JClass("org.apache.hadoop.hive.ql.session.SessionState").start(configuration)

    def run(self, statement: str) -> StatementResult:
        """Run one statement and fetch what it returns."""
        driver = self._jpype.JClass("org.apache.hadoop.hive.ql.DriverFactory").newDriver(self._configuration)
        began = time.monotonic()
        try:
            driver.run(statement)
            columns = _column_names(driver.getSchema())
            rows = self._fetch(driver) if columns else []
        except self._jpype.JException as error:
            raise SandboxError(f"Hive refused {statement!r}: {error}") from error
        finally:
            driver.close()
        return StatementResult(statement, columns, rows, round(time.monotonic() - began, 2))

    def _fetch(self, driver: Any) -> list[list[str]]:
        rows: list[list[str]] = []
        page = self._jpype.java.util.ArrayList()
        while driver.getResults(page):
            rows += [str(line).split("\t") for line in page]
            page.clear()
        return rows


def _column_names(schema: Any) -> list[str]:
    fields = schema.getFieldSchemas() if schema is not None else None
    return [str(field.getName()) for field in fields or []]


def run_statements(
    box: Sandbox, cluster: str, statements: Sequence[str], settings: Mapping[str, str] | None = None
) -> list[StatementResult]:
    """Run statements in one session in a process of its own, and return their results."""
    command = [sys.executable, "-m", "sandbox", "peer", cluster, *statements, "--json"]
    for key, value in (settings or {}).items():
        command += ["--set", f"{key}={value}"]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "TWINHIVE_SANDBOX": box.name}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SandboxError(f"the peer failed, see {box.layout.log_file('peer')}\n{done.stderr[-3000:]}")
    return [StatementResult(**result) for result in json.loads(done.stdout.splitlines()[-1])]
