"""One metastore, three clusters: both worked examples of seed 000, line by line, with data and with Spark.

C1 is east, whose metastore knows all tables; C2 is north; C3 is the file system of west. The metastore of west has no
part in it.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import yaml

from demo.cluster_sql import Shell, shell
from demo.showing import gateway, look, run, say, title, verbatim
from sandbox import Sandbox
from sandbox.ports import free_ports

DATABASE = "seed000"
_SIDES = {"C1": "east", "C2": "north", "C3": "west"}
_PORTS = ("C1", "C2")
"""Where lines run; the first is the gateway's own port."""
_TABLES = {"T11": "C1", "T12": "C1", "T21": "C2", "T31": "C3"}
LINES: Mapping[str, tuple[str | None, str | None]] = {
    "select T11.a from T11": ("C1", "C1"),
    "select T11.a from T11 join T12 on T11.a = T12.a": ("C1", "C1"),
    "select T21.a from T21": ("C2", "C2"),
    "select T11.a from T11 join T21 on T11.a = T21.a": (None, "C2"),
    "select T11.a from T11 join T31 on T11.a = T31.a": (None, None),
    "create table T13 as select a from T11": ("C1", "C1"),
    "insert into T21 select a from T11": (None, "C2"),
}
"""The lines of the worked examples, with where the seed says that each runs: without copies, and with T11's on C2."""
_WRITTEN = {"insert into T13 values (9)": "C1", "insert into T21 values (9)": "C2"}
"""Who writes one of them from now on runs where it belongs: T13 was made on C1, and T21 remains on C2."""
_JOIN = "select T11.a from T11 join T21 on T11.a = T21.a"


Shells = Mapping[str, Shell]


def clusters(box: Sandbox) -> None:
    """Refuse a join of tables of two clusters, make a copy, run the same join; and all lines of the examples."""
    title("Many clusters: one metastore, and each statement runs where everything is that it reads")
    box.up("north")
    os.environ.update(box.environment())
    ports = dict(zip(_PORTS, free_ports(len(_PORTS)), strict=True))
    with tempfile.TemporaryDirectory(prefix="twinhive-tour-") as directory:
        _configure(Path(directory), ports)
        os.environ["TWINHIVE_CONFIG"] = directory
        try:
            with _shells(ports) as shells:
                _walk(box, ports, shells)
        finally:
            del os.environ["TWINHIVE_CONFIG"]


@contextmanager
def _shells(ports: Mapping[str, int]) -> Iterator[Shells]:
    """Keep one session of Spark for each cluster that runs a line; they get ready while the first commands run."""
    words = ["twinhive", "gateway", "conf", "--cluster", "C1", "--json"]
    told = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)["settings"]
    with ExitStack() as open_shells:
        yield {name: open_shells.enter_context(shell(_SIDES[name], ports[name], told)) for name in _PORTS}


def _walk(box: Sandbox, ports: Mapping[str, int], shells: Shells) -> None:
    with gateway("--cluster", "C1", "--port", str(ports["C1"]), port=ports["C2"]):
        run("twinhive", "clusters")
        look("T11 and T12 belong to C1, T21 to C2, T31 to C3; the metastore is one:")
        _spark(shells, "C1", *_tables(box))
        try:
            look("a join of two clusters runs nowhere as long as nothing is copied:")
            run("twinhive", "route", "--database", DATABASE, _JOIN, refused=True)
            _example(shells, 0)
            look("the placement t11 keeps a copy of T11 on C2:")
            run("twinhive", "run", "t11", "copies")
            run("twinhive", "copies", "t11")
            look("now the same join runs on C2, by the copy:")
            run("twinhive", "route", "--database", DATABASE, "--explain", _JOIN)
            _example(shells, 1)
        finally:
            look("all of it goes again:")
            run("twinhive", "retire", "t11")
            _spark(shells, "C1", f"DROP DATABASE IF EXISTS {DATABASE} CASCADE")
    look("more: docs/routing.md, docs/copies.md, docs/clusters.md")


def _configure(directory: Path, ports: Mapping[str, int]) -> None:
    """Write clusters.yaml, and the placement of the second example."""

    def cluster(name: str) -> Mapping[str, object]:
        side = _SIDES[name]
        metastore = {"connection": "east_metastore"} if name == "C1" else {"of": "C1"}
        ends = {"file_system": {"connection": f"{side}_hdfs"}, "job_tracker": {"connection": f"{side}_spark"}}
        # C1 is the default cluster: its jobs ask at the gateway's own port, as they would without a gateway.
        port = {"gateway": {"port": ports[name]}} if name in ports and name != "C1" else {}
        return {"metastore": metastore, **ends, **port}

    described = {"default_cluster": "C1", "clusters": {name: cluster(name) for name in _SIDES}}
    (directory / "policies").mkdir()
    (directory / "placements").mkdir()
    (directory / "clusters.yaml").write_text(yaml.safe_dump(described, sort_keys=False), encoding="utf-8")
    placement = {"placement": "t11", "database": DATABASE, "tables": {"include": ["t11"]}, "cluster": "C2"}
    (directory / "placements" / "t11.yaml").write_text(yaml.safe_dump(placement, sort_keys=False), encoding="utf-8")


def _tables(box: Sandbox) -> list[str]:
    roots = {name: (box.north if side == "north" else box.clusters[side]).hdfs_uri for name, side in _SIDES.items()}
    made = [f"DROP DATABASE IF EXISTS {DATABASE} CASCADE", f"CREATE DATABASE {DATABASE}"]
    for number, (table, home) in enumerate(_TABLES.items()):
        name = f"{DATABASE}.{table}"
        place = f"LOCATION '{roots[home]}/tour/{DATABASE}/{table.lower()}' " if home != "C1" else ""
        # A table with a location is an external one to Spark: its files are to go with it.
        said = f"'twinhive.cluster' = '{home}'" + (", 'external.table.purge' = 'true'" if place else "")
        made.append(f"CREATE TABLE {name} (a INT) STORED AS ORC {place}TBLPROPERTIES ({said})")
        made.append(f"INSERT OVERWRITE {name} VALUES ({number}), (7), (8)")
    return made


def _example(shells: Shells, column: int) -> None:
    """Route the lines of an example, compare with the seed, and run what runs."""
    look(f"seed 000, {'T11 has a copy on C2' if column else 'no copies'}: where each line runs, as the seed says it")
    chosen: dict[str, list[str]] = {}
    for (sql, expected), found in zip(LINES.items(), _routed(LINES), strict=True):
        agrees = "as the seed says" if found == expected[column] else f"the seed says {expected[column]}"
        say(f"  {sql:<52} {found or 'fails':<6} {agrees}")
        if found != expected[column]:
            raise SystemExit("the router does not agree with seed 000")
        if found is not None:
            chosen.setdefault(found, []).append(sql)
    for cluster, statements in chosen.items():
        look(f"what runs on {cluster} is run there, by what the gateway shows there:")
        _spark(shells, cluster, f"USE {DATABASE}", *statements)
    look("where that leaves the tables that were written, T13, which is new, and T21:")
    for sql, home in zip(_WRITTEN, _routed(_WRITTEN), strict=True):
        say(f"  {sql:<52} {home or 'fails'}")
        if home != _WRITTEN[sql]:
            raise SystemExit("a table that was written is not where seed 000 says")
    _spark(shells, "C1", f"DROP TABLE {DATABASE}.T13")


def _routed(statements: Iterable[str]) -> list[str | None]:
    words = ["twinhive", "route", "--database", DATABASE, "--json", "; ".join(statements)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return [one["cluster"] for one in json.loads(done.stdout)["statements"]]


def _spark(shells: Shells, cluster: str, *statements: str) -> None:
    say(f"[bold]$[/] spark-sql   [dim]# on {cluster}, which is {_SIDES[cluster]}[/]")
    for line in shells[cluster].ask(*statements):
        verbatim(line)
