"""Record what clients and a metastore say to each other through a gateway that renames nothing.

    python -m tests.support.wire.record_conversations [spark-4.1.0] [spark-2.3.10] [pyiceberg]

It needs the sandbox (TWINHIVE_SANDBOX names the instance) and writes `tests/fixtures/conversations/<client>.json`: of
each connection the calls in order, in base64, as the client and as the metastore saw them. Record again after a change
of a client's version; `tests/unit/federation/gateway/test_recorded_conversations.py` plays them.
"""

import base64
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from hive_metastore import ttypes

from sandbox import Sandbox
from sandbox.spark import spark_conf, spark_submit_environment
from tests.support.servers.loopback_server import with_no_error
from tests.support.servers.running_gateway import RunningGateway
from tests.support.users.warehouse import Warehouse
from tests.support.wire.scripted_metastore import whole_message
from tests.support.wire.wire_metastore import client_of
from twinhive.hive.wire.thrift_message import MessageKind

FOLDER = Path(__file__).parents[2] / "fixtures" / "conversations"
DATABASE = "conversation"
_STATEMENTS = (
    f"SHOW TABLES IN {DATABASE}",
    f"SELECT count(*) FROM {DATABASE}.parts WHERE day > '2026-01-02'",
    f"SELECT * FROM {DATABASE}.parts WHERE day LIKE '2026-01-0%' LIMIT 1",
    f"DESCRIBE EXTENDED {DATABASE}.parts",
    f"SHOW PARTITIONS {DATABASE}.parts",
)
_SPARK = """
import json, sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[1]").appName("conversation").enableHiveSupport()
for key, value in json.loads(sys.argv[1]).items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
for text in json.loads(sys.argv[2]):
    spark.sql(text).collect()
"""
Pair = tuple[bytes, bytes]
"""A call and its answer."""


class Recorder:
    """Hand calls on to a port, and keep them, by connection."""

    def __init__(self, port: int) -> None:
        self._to = port
        self.connections: list[list[Pair]] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            self.connections.append([])
            threading.Thread(target=self._serve, args=(client, self.connections[-1]), daemon=True).start()

    def _serve(self, client: socket.socket, said: list[Pair]) -> None:
        server = socket.create_connection(("127.0.0.1", self._to))
        asked, answered = b"", b""
        try:
            while (read := whole_message(client, asked)) is not None:
                call, asked = read
                server.sendall(call.raw)
                if call.head.kind is MessageKind.ONEWAY:
                    continue
                got = whole_message(server, answered)
                if got is None:
                    break
                answer, answered = got
                said.append((call.raw, answer.raw))
                client.sendall(answer.raw)
        except OSError:
            pass
        finally:
            with_no_error(client)
            with_no_error(server)


def fill(east: Warehouse) -> None:
    """Make what is asked for."""
    if DATABASE in east.client.get_all_databases():
        east.client.drop_database(DATABASE, False, True)
    east.client.create_database(ttypes.Database(name=DATABASE))
    parts = east.create_table(DATABASE, "parts", keys=("day",), kind="EXTERNAL_TABLE")
    for day in range(1, 6):
        east.add_partition(parts, f"2026-01-0{day}", files={"f": b"1,2\n"})


def run_spark(box: Sandbox, port: int, *, built_in: bool) -> None:
    """Read with Spark's client of Hive 4.1.0, or with the one that is built in."""
    cluster = box.clusters["east"]
    uri = f"thrift://127.0.0.1:{port}"
    conf = {**spark_conf(cluster), "spark.hadoop.hive.metastore.uris": uri, "spark.hadoop.metastore.thrift.uris": uri}
    if built_in:
        conf = {key: value for key, value in conf.items() if not key.startswith("spark.sql.hive.metastore")}
    command = [sys.executable, "-c", _SPARK, json.dumps(conf), json.dumps(_STATEMENTS)]
    subprocess.run(command, env={**os.environ, **spark_submit_environment(cluster)}, check=True)


def run_pyiceberg(port: int) -> None:
    """Make the calls that pyiceberg makes, with the bindings that it has."""
    with client_of(port) as client:
        client.get_all_databases()
        client.get_database(name=DATABASE)
        client.get_tables(db_name=DATABASE, pattern="*")
        asked: Any = ttypes.GetTableRequest(dbName=DATABASE, tblName="parts")
        client.get_table_req(asked)
        client.get_table(dbname=DATABASE, tbl_name="parts")
        client.get_table_objects_by_name(DATABASE, ["parts"])


CLIENTS = {
    "spark-4.1.0": lambda box, port: run_spark(box, port, built_in=False),
    "spark-2.3.10": lambda box, port: run_spark(box, port, built_in=True),
    "pyiceberg": lambda box, port: run_pyiceberg(port),
}


def written(connections: list[list[Pair]]) -> list[list[list[str]]]:
    """Return connections as JSON has them; those without a call are left out."""
    return [[[base64.b64encode(one).decode() for one in pair] for pair in said] for said in connections if said]


def main(names: list[str]) -> int:
    """Record some clients, or all."""
    box = Sandbox.open(os.environ.get("TWINHIVE_SANDBOX", "test"))
    box.up()
    os.environ.update(box.environment())
    fill(Warehouse(box.clusters["east"]))
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names or CLIENTS:
        behind = Recorder(box.clusters["east"].metastore_port)
        gateway = RunningGateway(behind.port)
        front = Recorder(gateway.port)
        CLIENTS[name](box, front.port)
        gateway.stop()
        said = {"client": written(front.connections), "metastore": written(behind.connections)}
        (FOLDER / f"{name}.json").write_text(json.dumps(said, indent=0) + "\n")
        print(name, [len(one) for one in front.connections], "calls by connection")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
