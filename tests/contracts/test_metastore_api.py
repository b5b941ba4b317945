"""The committed table of methods is what the server's own jar gives."""

import json
import subprocess
import sys

from twinhive.hive.wire.method_table import TABLE


def test_the_table_of_methods_is_what_the_servers_jar_gives() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sandbox.hive.metastore_api", "--print"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == TABLE.read_text(encoding="utf-8"), f"python -m sandbox.hive.metastore_api writes {TABLE.name}"


_FIELDS = """
import json
from sandbox.hive.metastore_api import read_structs
print(json.dumps({name: {number: field for number, field, _ in fields} for name, fields in read_structs().items()}))
"""


def test_places_and_parameters_have_the_numbers_that_a_clusters_port_believes() -> None:
    done = subprocess.run([sys.executable, "-c", _FIELDS], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    fields = json.loads(done.stdout)
    database = {"3": "locationUri", "4": "parameters", "8": "catalogName", "10": "managedLocationUri"}
    believed = {
        "Table": {"1": "tableName", "2": "dbName", "7": "sd", "9": "parameters", "12": "tableType", "17": "catName"},
        "Partition": {"1": "values", "2": "dbName", "3": "tableName", "6": "sd", "7": "parameters", "9": "catName"},
        "Database": {"1": "name", **database},
        "CreateDatabaseRequest": {"1": "databaseName", **database},
        "StorageDescriptor": {"2": "location", "7": "serdeInfo", "10": "parameters"},
        "SerDeInfo": {"3": "parameters"},
        "DropDatabaseRequest": {"5": "cascade"},
        "drop_database_args": {"3": "cascade"},
    }
    for struct, numbers in believed.items():
        assert {number: fields[struct][number] for number in numbers} == numbers
