"""Cases of REPL statements: texts that are none, places that are not there, dumps that do not fit."""

import json
from collections.abc import Callable

import yaml

from tests.bad_input.case import Case
from tests.bad_input.desk import Desk
from tests.support.users.source_writer import SourceWriter
from tests.support.worlds.fake_world import SOURCE_ADDRESS
from twinhive.core.model.objects import Database

ROOT = "hdfs://east/user/hive/repl/sales"
IT = f"{ROOT}/it"
"""Where a case finds the dump that it loads."""
NO_EXTERNAL = "WITH ('hive.repl.include.external.tables'='false')"
BASE = "'hive.repl.replica.external.table.base.dir'"
Spoil = Callable[[Desk], None]


def _at(cluster: str, statement: str) -> tuple[str, ...]:
    return ("sql", statement, "--cluster", cluster)


def _say(desk: Desk, cluster: str, statement: str) -> None:
    desk.terminal.type(*_at(cluster, statement))


def _dump_it(desk: Desk, statement: str = "REPL DUMP sales", settings: str = NO_EXTERNAL) -> None:
    """Dump, and give the dump's directory the name that the cases know; an earlier one has been loaded."""
    files = desk.world.source_files
    files.delete(IT)
    _say(desk, "east", f"{statement} {settings}")
    ((_, children),) = files.list_directories([ROOT])
    (made,) = [child.path for child in children or () if not child.path.endswith("_loaders")]
    files.rename(made, IT)


def _dumped(*then: Spoil, statement: str = "REPL DUMP sales", settings: str = NO_EXTERNAL) -> Spoil:
    def spoil(desk: Desk) -> None:
        _dump_it(desk, statement, settings)
        for one in then:
            one(desk)

    return spoil


def _loaded(*then: Spoil) -> Spoil:
    return _dumped(lambda desk: _say(desk, "west", LOAD), *then)


def _events_dumped(begin: int = 0, statement: str = "REPL DUMP sales FROM {}") -> Spoil:
    """Dump what two new tables left in the log, from so many events after the replica, or the newest event, on."""

    def spoil(desk: Desk) -> None:
        replica = desk.world.replica.database("sales")
        position = replica.parameters.get("repl.last.id") if replica else None
        first = int(position or desk.world.source.current_event_id())
        users = SourceWriter(desk.world.source, desk.world.source_files, "sales")
        users.create_table(f"made{first}")
        users.create_table(f"more{first}")
        _dump_it(desk, statement.format(first + begin))

    return spoil


def _delete(part: str) -> Spoil:
    def spoil(desk: Desk) -> None:
        files = desk.world.source_files
        files.delete(next(path for path in files.paths() if path.startswith(IT) and part in path))

    return spoil


def _of_format_99(name: str) -> Spoil:
    def spoil(desk: Desk) -> None:
        files = desk.world.source_files
        path = next(path for path in files.paths() if path.startswith(IT) and path.endswith(name))
        files.put(path, json.dumps({**json.loads(files.read(path)), "format": 99}).encode())

    return spoil


def _of_cluster_north(desk: Desk) -> None:
    files = desk.world.source_files
    said = json.loads(files.read(f"{IT}/repl.json"))
    files.put(f"{IT}/repl.json", json.dumps({**said, "cluster": "north"}).encode())


def _made_by_ann(desk: Desk) -> None:
    desk.world.replica.create_database(Database("sales", None, None, {"made.by": "ann"}, thrift="{}"))


def _two_clusters_on_one_file_system(desk: Desk) -> None:
    path = desk.policies.directory / "clusters.yaml"
    clusters = yaml.safe_load(path.read_text(encoding="utf-8"))["clusters"]
    desk.policies.write("clusters.yaml", {"clusters": {**clusters, "north": clusters["east"]}})


def _hive_dump(desk: Desk) -> None:
    """Dump in Hive's layout a table whose names it can say."""
    layout = "'twinhive.dump.layout'='hive'"
    _say(desk, "east", f"REPL DUMP sales.['plain'] {NO_EXTERNAL.replace('(', f'({layout}, ')}")
    files = desk.world.source_files
    path = next(path for path in files.paths() if path.endswith("/hive/_dumpmetadata"))
    files.rename(path.removesuffix("/hive/_dumpmetadata"), IT)


LOAD = f"REPL LOAD FROM '{IT}'"
LOAD_IT = _at("west", LOAD)

TEXT_CASES = (
    Case("sql: no statement", _at("east", "REPLAY sales"), ("wrong in line 1, column 1",)),
    Case("sql: a query", _at("east", "SELECT 1"), ("the Spark of a cluster runs it", "twinhive route", "SELECT 1")),
    Case(
        "sql: USE CLUSTER of none", ("sql", "USE CLUSTER south; REPL STATUS sales"), ("no cluster south", "east, west")
    ),
    Case(
        "sql: EXPORT after USE",
        _at("east", "USE sales; EXPORT TABLE t TO '/x'"),
        ("EXPORT and IMPORT do not follow USE",),
    ),
    Case("sql: a text and a file", ("sql", "REPL STATUS sales", "--file", "x.sql"), ("both a text and a file",)),
    Case("sql: TO without FROM", _at("east", "REPL DUMP sales TO 5"), ("wrong in line 1, column 17", "without FROM")),
    Case("sql: TO before FROM", _at("east", "REPL DUMP sales FROM 9 TO 5"), ("TO 5, which is before FROM 9",)),
    Case("sql: LIMIT 0", _at("east", "REPL DUMP sales FROM 9 LIMIT 0"), ("found:    LIMIT 0", "1 or more events")),
    Case("sql: LOAD of nothing", _at("west", "REPL LOAD"), ("wrong in line 1, column 10",)),
    Case(
        "sql: a key that nobody knows",
        _at("east", "REPL DUMP sales WITH ('hive.repl.rotdir'='/r')"),
        ("hive.repl.rotdir in WITH cannot be used", "hive.repl.rootdir"),
    ),
    Case(
        "sql: a key of another statement",
        _at("west", "REPL STATUS sales WITH ('hive.repl.rootdir'='/r')"),
        ("hive.repl.rootdir in WITH cannot be used", "a key that REPL STATUS uses"),
    ),
)
PLACE_CASES = (
    Case("sql: no cluster among two", ("sql", "REPL STATUS sales"), ("to which cluster it is said", "east, west")),
    Case("sql: no such cluster", _at("north", "REPL STATUS sales"), ("a cluster that is not configured", "north")),
    Case(
        "sql: no such policy",
        ("sql", "REPL STATUS sales", "--policy", "slaes"),
        ("no policy slaes",),
    ),
    Case(
        "sql: not the policy's cluster",
        (*_at("east", "REPL STATUS sales"), "--policy", "sales"),
        ("cluster east is not the one of policy sales",),
    ),
    Case(
        "sql: a dump of a cluster that is not configured",
        LOAD_IT,
        (f"the dump {IT} names a cluster that is not configured", "found:    north"),
        _dumped(_of_cluster_north),
    ),
    Case(
        "sql: a directory of no cluster",
        _at("east", "REPL DUMP sales WITH ('hive.repl.rootdir'='hdfs://north/repl')"),
        ("on a file system of no cluster", "hdfs://east or hdfs://west"),
    ),
    Case(
        "sql: a dump of Hive's, of one of two clusters",
        LOAD_IT,
        ("cannot be told which cluster Hive's dump", "east and north"),
        lambda desk: (_two_clusters_on_one_file_system(desk), _hive_dump(desk)),
    ),
)


DUMP_CASES = (
    Case(
        "dump: a log that we may not read",
        _at("east", "REPL DUMP sales"),
        ("does not let us read its notification log", "hadoop.proxyuser.hive.groups"),
        lambda desk: setattr(desk.world.source, "guards_log", True),
    ),
    Case(
        "dump: no change manager",
        _at("east", "REPL DUMP sales"),
        ("keeps no dropped files", "run the statement again"),
        lambda desk: desk.world.source.configurations[SOURCE_ADDRESS].update({"metastore.repl.cm.enabled": "false"}),
    ),
    Case(
        "dump: FROM older than the log",
        _at("east", "REPL DUMP sales FROM 1"),
        ("has a gap", "found:    event 4", "expected: event 2", "dump and load the whole database"),
        lambda desk: desk.world.source.expire_events(3),
    ),
    Case(
        "dump: a scope that no parameter holds",
        _at("east", f"REPL DUMP sales.['{'x' * 4000}']"),
        ("no replica can remember the scope", "at most 4000 bytes"),
    ),
    Case("dump: no such database", _at("east", "REPL DUMP nothere"), ("nothere does not exist on cluster east",)),
    Case(
        "dump: FROM newer than the log",
        _at("east", "REPL DUMP sales FROM 9999"),
        ("FROM 9999 is newer than the notification log of cluster east", "newest event"),
    ),
    Case(
        "dump: REPLACE and a limit",
        _at("east", "REPL DUMP sales REPLACE sales.['none'] FROM 1 LIMIT 5"),
        ("REPLACE brings tables into the scope", "found:    LIMIT 5"),
    ),
    Case(
        "dump: external tables that come whole, and a limit",
        _at(
            "east", f"REPL DUMP sales FROM 1 LIMIT 5 WITH ('hive.repl.bootstrap.external.tables'='true', {BASE}='/ext')"
        ),
        ("brings external tables whole", "outside", "found:    LIMIT 5"),
    ),
    Case(
        "dump: a rename into the scope, and a limit",
        _at("east", "REPL DUMP sales.['[a-z]+'] FROM 9 LIMIT 5"),
        ("event 10 brings a table into the scope", "found:    LIMIT 5"),
        lambda desk: (
            (users := SourceWriter(desk.world.source, desk.world.source_files, "sales")).create_table("q5"),
            users.rename_table("q5", "five"),
        ),
    ),
)
LOAD_CASES = (
    Case("load: no such directory", _at("west", "REPL LOAD FROM '/never'"), ("no finished dump in hdfs://west/never",)),
    Case("load: no dump", _at("west", "REPL LOAD sales"), ("there is no dump of database sales to load",)),
    Case("load: half-written", LOAD_IT, ("a dump that was never finished",), _dumped(_delete("/repl.json"))),
    Case("load: no description", LOAD_IT, ("is not whole", "REPL DUMP sales"), _dumped(_delete("/dump.json"))),
    Case("load: no list of files", LOAD_IT, ("is not whole", "no files/b0001"), _dumped(_delete("/files/"))),
    Case("load: another version", LOAD_IT, ("format 99", "format 1"), _dumped(_of_format_99("repl.json"))),
    Case("load: another version inside", LOAD_IT, ("format 99", "format 3"), _dumped(_of_format_99("dump.json"))),
    Case(
        "load: another database",
        _at("west", f"REPL LOAD other INTO twin FROM '{IT}'"),
        ("is of another database", "expected: other"),
        _dumped(),
    ),
    Case(
        "load: another base directory",
        _at("west", f"REPL LOAD FROM '{IT}' WITH ({BASE}='/two')"),
        ("name different base directories", "hdfs://west/two", "hdfs://west/one"),
        _dumped(settings=f"WITH ({BASE}='/one')"),
    ),
    Case(
        "load: external tables without a base directory",
        LOAD_IT,
        ("external tables", "hive.repl.replica.external.table.base.dir"),
        _dumped(settings=""),
    ),
    Case("load: nobody's database", LOAD_IT, ("no replica that this statement can load",), _dumped(_made_by_ann)),
    Case("load: over a replica", LOAD_IT, ("is a replica already",), _loaded(_dumped())),
    Case("load: events without a replica", LOAD_IT, ("there is no replica west/sales",), _events_dumped()),
    Case("load: behind the dump", LOAD_IT, ("not as far as this dump begins",), _loaded(_events_dumped(1))),
    Case(
        "load: ahead of the dump",
        LOAD_IT,
        ("is ahead of this dump",),
        _loaded(
            _events_dumped(),
            lambda desk: _say(desk, "west", LOAD),
            _events_dumped(-2, "REPL DUMP sales FROM {} LIMIT 1"),
        ),
    ),
    Case(
        "load: another policy",
        LOAD_IT,
        ("has another policy than this dump", "found:    the replica: sales; the dump: sales.['made.*']"),
        _loaded(_events_dumped(0, "REPL DUMP sales.['made.*'] FROM {}")),
    ),
)
STATEMENT_CASES = (*TEXT_CASES, *PLACE_CASES, *DUMP_CASES, *LOAD_CASES)
