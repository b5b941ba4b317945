"""Cases of EXPORT TABLE and IMPORT TABLE: texts that are none, tables that are none, directories in the way."""

import json
from collections.abc import Callable
from dataclasses import replace

from tests.bad_input.case import Case
from tests.bad_input.desk import Desk
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database
from twinhive.core.model.tjson import from_text, to_text

EXPORT = "hdfs://west/exports/it"
Spoil = Callable[[Desk], None]


def _east(statement: str) -> tuple[str, ...]:
    return ("sql", statement, "--cluster", "east")


def _west(statement: str) -> tuple[str, ...]:
    return ("sql", statement, "--cluster", "west")


def _export(table: str, *words: str) -> tuple[str, ...]:
    return ("export", table, EXPORT, "--cluster", "east", *words)


def _import(table: str, *words: str) -> tuple[str, ...]:
    return ("import", table, EXPORT, "--cluster", "west", *words)


def _put(path: str) -> Spoil:
    return lambda desk: desk.world.replica_files.put(path, b"mine") and None


def _exported(table: str, *then: Spoil) -> Spoil:
    def spoil(desk: Desk) -> None:
        desk.world.replica.create_database(Database("d", None, None, {}, thrift="{}"))
        desk.terminal.type(*_export(f"sales.{table}"))
        for one in then:
            one(desk)

    return spoil


def _imported(*words: str) -> Spoil:
    return lambda desk: desk.terminal.type(*_import("d.t", *words)) and None


def _of_policy(desk: Desk) -> None:
    marks = {"twinhive.policy": "other", "twinhive.phase": "following", "repl.last.id": "7"}
    desk.world.replica.set_database_parameters("d", marks)


def _of_hive(desk: Desk) -> None:
    desk.world.replica.set_database_parameters("d", {"repl.last.id": "7", "repl.target.for": "true"})


def _without(path: str) -> Spoil:
    return lambda desk: desk.world.replica_files.delete(f"{EXPORT}/{path}") and None


def _described(**fields: object) -> Spoil:
    def spoil(desk: Desk) -> None:
        files, path = desk.world.replica_files, f"{EXPORT}/_metadata"
        files.put(path, json.dumps({**json.loads(files.read(path)), **fields}).encode())

    return spoil


def _no_json(desk: Desk) -> None:
    desk.world.replica_files.put(f"{EXPORT}/_metadata", b"{")


def _of_another_format(desk: Desk) -> None:
    """Let the table that is there read another format than the export's files have."""
    replica, name = desk.world.replica, TableName("d", "t")
    table = replica.table(name)
    assert table is not None
    tree = from_text(table.thrift)
    tree["7"]["rec"]["3"] = {"str": "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat"}
    replica.alter_table(name, replace(table, thrift=to_text(tree)))


_TEXTS = (
    Case("export: no directory", _east("EXPORT TABLE sales.plain"), ("column 25", "PARTITION or TO")),
    Case("export: for replication", _east("EXPORT TABLE t TO '/x' FOR replication('3')"), ("found:    FOR",)),
    Case("export: a relative directory", _east("EXPORT TABLE t TO 'x/y'"), ("x/y", "an absolute path or a URI")),
    Case("export: a directory with dots", _east("EXPORT TABLE t TO '/x/../y'"), ("without '.' and '..'",)),
    Case("export: a key that nobody knows", _east("EXPORT TABLE t TO '/x' WITH ('a'='b')"), ("'overwrite'",)),
    Case("export: neither true nor false", _east("EXPORT TABLE t TO '/x' WITH ('overwrite'='1')"), ("'true' or",)),
    Case("export: a name of blanks", _east("EXPORT TABLE ` ` TO '/x'"), ("found:    blanks",)),
    Case("export: an odd database", _east("EXPORT TABLE `a-b`.t TO '/x'"), ("a-b as the name of a database",)),
    Case("export: a key twice", _east("EXPORT TABLE t PARTITION (p=1, P=2) TO '/x'"), ("for the second time",)),
    Case("export: an empty value", _east("EXPORT TABLE t PARTITION (p='') TO '/x'"), ("an empty value",)),
    Case("import: nothing", _west("IMPORT"), ("line 1, column 7",)),
    Case("export: a table without its database", _export("plain"), ("'plain' is no table", "database.table")),
    Case("export: a partition without a value", _export("sales.orders", "--partition", "p"), ("KEY=VALUE",)),
)
_OF_EXPORT = (
    Case("export: no such table", _export("sales.gone"), ("no table sales.gone to export",)),
    Case("export: a view", _export("sales.recent"), ("cannot be exported", "a view")),
    Case("export: no such key", _export("sales.orders", "--partition", "q=1"), ("has no partition key q",)),
    Case("export: no such partition", _export("sales.orders", "--partition", "p=1"), ("has no such partition",)),
    Case(
        "export: a directory with something in it",
        _export("sales.plain"),
        ("cannot be exported", "1 files or directories, and no export"),
        _put(f"{EXPORT}/mine"),
    ),
    Case(
        "export: overwrite of what is no export",
        _export("sales.plain", "--overwrite"),
        ("and no export, or not that alone", "replaces an export, and nothing else"),
        _put(f"{EXPORT}/mine"),
    ),
    Case("export: a file in the way", _export("sales.plain"), ("found:    a file",), _put(EXPORT)),
    Case("export: a file around it", _export("sales.plain"), ("exports is a file",), _put("hdfs://west/exports")),
    Case("export: an export that is there", _export("sales.plain"), ("found:    an export",), _exported("plain")),
    Case(
        "export: into the table itself",
        _east("EXPORT TABLE sales.orders TO 'hdfs://east/warehouse/managed/sales.db/orders/new'"),
        ("cannot be exported to", "its own files lie at"),
    ),
    Case(
        "export: no cluster's directory", _east("EXPORT TABLE t TO 'hdfs://moon/x'"), ("a file system of no cluster",)
    ),
)
_OF_IMPORT = (
    Case("import: no export", _import("d.t"), ("is no export of a table", "no _metadata in it")),
    Case("import: no database", _import("gone.t"), ("there is no database gone",), _exported("plain")),
    Case(
        "import: into a replica",
        _import("d.t"),
        ("database d is the replica of policy other", "import it at the policy's source"),
        _exported("plain", _of_policy),
    ),
    Case(
        "import: into a replica of Hive's",
        _import("d.t"),
        ("database d is a replica that Hive's REPL LOAD has made", "found:    repl.last.id=7"),
        _exported("plain", _of_hive),
    ),
    Case("import: no JSON", _import("d.t"), ("_metadata cannot be read",), _exported("plain", _no_json)),
    Case("import: another version", _import("d.t"), ("version 9.9",), _exported("plain", _described(version="9.9"))),
    Case(
        "import: no structs", _import("d.t"), ("_metadata cannot be read",), _exported("plain", _described(table="x"))
    ),
    Case("import: not whole", _import("d.t"), ("is not whole",), _exported("plain", _without("data"))),
    Case(
        "import: a partition that is there",
        _import("d.t"),
        ("1 partitions of d.t are there already", "10118"),
        _exported("orders", _imported("--partition", "p=a b")),
    ),
    Case(
        "import: another format",
        _import("d.t", "--partition", "p=no files"),
        ("does not fit table d.t", "input format"),
        _exported("orders", _imported("--partition", "p=a b"), _of_another_format),
    ),
    Case("import: rows that are there", _import("d.t"), ("is not empty",), _exported("plain", _imported())),
    Case(
        "import: another shape",
        _import("d.t", "--external", "--location", "hdfs://west/other"),
        ("does not fit table d.t", "EXTERNAL is said", "LOCATION says"),
        _exported("plain", _imported()),
    ),
    Case(
        "import: into the export",
        _import("d.t", "--location", f"{EXPORT}/in"),
        ("is in the export",),
        _exported("plain"),
    ),
    Case(
        "import: no such partition",
        _import("d.t", "--partition", "p=1"),
        ("has no such partition",),
        _exported("orders"),
    ),
)
EXPORT_CASES = (*_TEXTS, *_OF_EXPORT, *_OF_IMPORT)
