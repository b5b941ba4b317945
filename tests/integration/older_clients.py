"""Be clients of years ago, Spark 3.3 and Hive 2.3.9's client: `older_clients.py CLUSTER URI`.

Each line of standard input is a list of requests, a line of standard output has what came of each: what it returned, or
`{"error": text}`. URI is that of the metastore, or of a gateway. The jars are pinned in sandbox/jvm/older-jars.txt;
they run on the Java of Spark, which is older than that of the servers.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sandbox import Sandbox
from sandbox.configuration import LOOPBACK
from sandbox.jvm.jars import OLDER_JAR_LIST, ensure_jars
from sandbox.jvm.java import spark_java_home
from sandbox.paths import cache_root

ANSWER = "answer "
ROOT = Path(__file__).parents[2]
_OPENED = ("java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util")
_OPENED += ("java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action")
_FLAGS = (
    "-Xmx1g",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    *(f"--add-opens=java.base/{one}=ALL-UNNAMED" for one in _OPENED),
)


class OlderClients:
    """Ask a process that is such clients."""

    def __init__(self, process: "subprocess.Popen[str]", errors: Path) -> None:
        self._process, self._errors = process, errors

    def ask(self, *requests: list[Any]) -> list[Any]:
        """Return what came of each request: `["spark", SQL]` or `["hive", method, ...]`."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(requests) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith(ANSWER):
                return list(json.loads(line.removeprefix(ANSWER)))
        raise AssertionError(self._errors.read_text(errors="replace")[-3000:])


@contextmanager
def older_clients(cluster: str, uri: str, errors: Path) -> Iterator[OlderClients]:
    """Start them as users of a cluster."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "plugins")])}
    with (
        errors.open("w") as log,
        subprocess.Popen(
            [sys.executable, __file__, cluster, uri],
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        ) as process,
    ):
        try:
            yield OlderClients(process, errors)
        finally:
            process.kill()


class _Clients:
    """The clients themselves; each is made when it is first asked."""

    def __init__(self, jpype: Any, uri: str, properties: Mapping[str, str], scratch: str) -> None:
        self._class, self._uri, self._scratch = jpype.JClass, uri, scratch
        self._error = jpype.JException
        self._properties = {**properties, "hive.metastore.uris": uri, "hive.metastore.failure.retries": "0"}
        self._made: dict[str, Any] = {}

    def answer(self, request: list[Any]) -> Any:
        """Return what came of a request."""
        kind, *said = request
        try:
            return {"spark": self._spark, "hive": self._hive}[kind](*said)
        except self._error as error:
            return {"error": f"{error}"}

    def _spark(self, sql: str) -> Any:
        if "spark" not in self._made:
            builder = self._class("org.apache.spark.sql.SparkSession").builder().master("local[1]").appName("older")
            settings = {
                **{f"spark.hadoop.{key}": value for key, value in self._properties.items()},
                "spark.sql.warehouse.dir": f"{self._scratch}/spark",
                "spark.driver.host": LOOPBACK,
                "spark.driver.bindAddress": LOOPBACK,
                "spark.ui.enabled": "false",
                "spark.sql.shuffle.partitions": "2",
            }
            for key, value in settings.items():
                builder = builder.config(key, value)
            self._made["spark"] = builder.enableHiveSupport().getOrCreate()
        rows = self._made["spark"].sql(sql).collectAsList()
        return [[str(row.get(at)) for at in range(row.length())] for row in rows]

    def _hive(self, method: str, *arguments: Any) -> Any:
        """Call Hive's client; a fresh one each time, as it keeps a broken connection."""
        configuration = self._class("org.apache.hadoop.hive.conf.HiveConf")()
        for key, value in self._properties.items():
            configuration.set(key, value)
        client = self._class("org.apache.hadoop.hive.metastore.HiveMetaStoreClient")(configuration)
        try:
            return self._called(client, method, arguments)
        finally:
            client.close()

    def _called(self, client: Any, method: str, arguments: tuple[Any, ...]) -> Any:
        match method, arguments:
            case "drop_table", (database, table):
                client.dropTable(database, table, True, False, True)
            case "drop_partition", (database, table, values):
                options = self._class("org.apache.hadoop.hive.metastore.PartitionDropOptions").instance()
                client.dropPartition(database, table, self._list(values), options.deleteData(True).purgeData(True))
            case "drop_database", (database,):
                client.dropDatabase(database, True, False, True)
            case "table", (database, table):
                found = client.getTable(database, table)
                return [str(found.getTableType()), dict(found.getParameters())]
            case "partitions", (database, table):
                return [str(one.getSd().getLocation()) for one in client.listPartitions(database, table, -1)]
            case _:
                raise ValueError(method)
        return None

    def _list(self, values: list[str]) -> Any:
        found = self._class("java.util.ArrayList")()
        for value in values:
            found.add(value)
        return found


def main() -> int:
    """Answer until there are no more requests."""
    import jpype

    name, uri = sys.argv[1:]
    box = Sandbox.open(os.environ.get("TWINHIVE_SANDBOX", "test"))
    cluster = box.clusters[name]
    os.environ["HADOOP_USER_NAME"] = cluster.user
    os.environ["SPARK_LOCAL_IP"] = LOOPBACK
    jars = [str(jar) for jar in ensure_jars(cache_root(), OLDER_JAR_LIST)]
    library = spark_java_home() / "lib" / "server" / "libjvm.so"
    scratch = str(box.layout.temporary)
    jpype.startJVM(str(library), *_FLAGS, f"-Djava.io.tmpdir={scratch}", classpath=jars, convertStrings=True)
    clients = _Clients(jpype, uri, cluster.hadoop_properties, scratch)
    for line in sys.stdin:
        print(ANSWER + json.dumps([clients.answer(one) for one in json.loads(line)]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
