"""A gateway has loaded what it serves with; what is for single remotes, for views and for statements comes when met."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

PLUGINS = Path(__file__).parents[4] / "plugins"
HEAVY = (
    *("airflow", "asyncssh", "boto3", "botocore", "fastapi", "fsspec", "jpype", "lark", "moto", "numpy", "pandas"),
    *("pyarrow", "pyiceberg", "pyspark", "requests", "sqlalchemy", "sqlglot", "uvicorn"),
)
BINDINGS = "hive_metastore"
"""Of the ports of single clusters, which read objects of the metastore."""
PROGRAM = f"""
import sys
from pathlib import Path
import twinhive.surfaces.cli.app
from twinhive.surfaces.cli import gateway_command
from twinhive.surfaces.cli.command_line import configuration_of

configuration = configuration_of(Path(sys.argv[1]))
resolve = gateway_command.resolver()
ports = gateway_command.gateway_ports(configuration, "east", resolve, 9093)
print(sorted(ports))
wiring = gateway_command.RemotesWiring(configuration, "east", resolve)
wiring.connectors.of("thrift")
wiring.access
print([name for name in {(*HEAVY, BINDINGS)} if name in sys.modules])
"""
METASTORE = '{"conn_type": "hive_metastore", "host": "localhost", "port": 1}'


def _cluster(name: str) -> dict[str, Any]:
    return {
        "metastore": {"connection": "metastore"},
        "file_system": {"connection": f"{name}_files"},
        "job_tracker": {"connection": f"{name}_spark"},
    }


def _loaded(directory: Path, clusters: dict[str, Any]) -> str:
    (directory / "clusters.yaml").write_text(yaml.safe_dump({"clusters": clusters, "default_cluster": "east"}))
    (directory / "policies").mkdir()
    files = {
        f"AIRFLOW_CONN_{name.upper()}_FILES": f'{{"conn_type": "hdfs", "host": "{name}", "extra": {{"uri": "hdfs://{name}"}}}}'
        for name in clusters
    }
    connections = {"AIRFLOW_CONN_METASTORE": METASTORE, **files}
    words = (sys.executable, "-c", PROGRAM, str(directory))
    environment = {**os.environ, **connections, "PYTHONPATH": str(PLUGINS)}
    ended = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_a_gateway_has_loaded_nothing_that_it_may_never_need(tmp_path: Path) -> None:
    assert _loaded(tmp_path, {"east": _cluster("east")}) == "[9093]\n[]\n"


def test_with_a_port_for_a_cluster_it_has_the_bindings_too(tmp_path: Path) -> None:
    west = {**_cluster("west"), "metastore": {"of": "east"}, "gateway": {"port": 9094}}
    assert _loaded(tmp_path, {"east": _cluster("east"), "west": west}) == f"[9093, 9094]\n['{BINDINGS}']\n"
