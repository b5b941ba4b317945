"""Let west take over from east, write there, and make east its replica: a database of the tour's own."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import yaml

from demo.showing import look, run, title
from demo.twin import remove_database
from sandbox import Sandbox

DATABASE, THERE, BACK = "tour_orders", "orders", "orders_back"
_SIDES: Mapping[str, tuple[str, str]] = {THERE: ("east", "west"), BACK: ("west", "east")}
_MADE = (
    f"CREATE DATABASE {DATABASE}",
    f"CREATE TABLE {DATABASE}.orders (id INT, day STRING) USING hive OPTIONS (fileFormat 'orc') PARTITIONED BY (day)",
    "SET hive.exec.dynamic.partition.mode=nonstrict",
    f"INSERT INTO {DATABASE}.orders VALUES (1, 'monday'), (2, 'tuesday')",
)


def failover(box: Sandbox) -> None:
    """Fail a database over, write on the other side, and fail back."""
    title("Failover: west takes over, users write there, and east becomes its replica")
    with tempfile.TemporaryDirectory(prefix="twinhive-tour-") as directory:
        _configure(Path(directory))
        os.environ["TWINHIVE_CONFIG"] = directory
        try:
            _remove(box)
            _walk()
        finally:
            look("all of it goes again")
            _remove(box)
            del os.environ["TWINHIVE_CONFIG"]


def _walk() -> None:
    look("a database on east, and its replica on west:")
    _spark("east", *_MADE)
    run("twinhive", "run", THERE, "bootstrap", only="published")
    look("what would keep west from taking over, and what would be done:")
    run("twinhive", "failover", THERE, "--dry-run")
    look("nobody writes on east now; that is proved, for 20 seconds, and that both sides are equal:")
    run("twinhive", "failover", THERE)
    look("nothing is brought into west any more:")
    run("twinhive", "run", THERE, "incremental", refused=True)
    look("users write on west:")
    _spark("west", f"INSERT INTO {DATABASE}.orders VALUES (3, 'wednesday')", f"SELECT * FROM {DATABASE}.orders")
    look("east becomes the replica of west; nothing is copied before somebody has seen what differs:")
    run("twinhive", "failback", BACK)
    run("twinhive", "resync", BACK, "--all", "--dry-run")
    run("twinhive", "pause", BACK, "--off")
    run("twinhive", "run", BACK, "incremental", only="applied")
    look("and it is proved:")
    run("twinhive", "verify", BACK)
    look(f"the same two commands switch back: twinhive failover {BACK}, twinhive failback {THERE}. docs/failover.md")


def _remove(box: Sandbox) -> None:
    """Take away whatever there is of the chapter: marks first, for Hive drops no database that carries them."""
    for policy in _SIDES:
        subprocess.run(["twinhive", "forget", policy], capture_output=True, check=False)
    for cluster in box.clusters.values():
        remove_database(cluster, DATABASE)


def _configure(directory: Path) -> None:
    """Write clusters.yaml, and a policy for each direction."""

    def cluster(name: str) -> Mapping[str, object]:
        parts = {"metastore": "metastore", "file_system": "hdfs", "job_tracker": "spark"}
        return {part: {"connection": f"{name}_{what}"} for part, what in parts.items()}

    def write(name: str, content: Mapping[str, object]) -> None:
        (directory / name).write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")

    (directory / "policies").mkdir()
    write("clusters.yaml", {"clusters": {name: cluster(name) for name in ("east", "west")}})
    for policy, (source, replica) in _SIDES.items():
        sides = {"source": source, "replica": replica}
        ends = {side: {"cluster": name, "database": DATABASE} for side, name in sides.items()}
        write(f"policies/{policy}.yaml", {"policy": policy, **ends, "external_tables": {"include": False}})


def _spark(side: str, *statements: str) -> None:
    run(sys.executable, "-m", "demo.side_sql", side, *statements)
