"""Cases of connections, and of clusters that are not as a policy needs them."""

import json
from collections.abc import Callable
from typing import Any

from tests.bad_input.case import TRY_AGAIN, Case
from tests.bad_input.desk import Desk
from tests.support.builders import a_table
from tests.support.hdfs.fake_files import InMemoryFiles
from tests.support.worlds.fake_world import REPLICA_ADDRESS, SOURCE_ADDRESS
from twinhive.core.model.files import Space
from twinhive.core.model.names import TableName
from twinhive.core.model.objects import Database

BOOTSTRAP = ("run", "sales", "bootstrap")
EXTERNAL = ("run", "sales", "external")


def _connection(name: str, value: str | None) -> Callable[[Desk], None]:
    def spoil(desk: Desk) -> None:
        desk.with_real_connections()
        known = {
            "EAST_METASTORE": '{"host": "nowhere.invalid"}',
            "WEST_METASTORE": '{"host": "nowhere.invalid"}',
            "EAST_HDFS": '{"extra": {"uri": "hdfs://east"}}',
            "WEST_HDFS": '{"extra": {"uri": "hdfs://west"}}',
        }
        for variable, text in {**known, name: value}.items():
            if text is None:
                desk.patch.delenv(f"AIRFLOW_CONN_{variable}", raising=False)
            else:
                desk.patch.setenv(f"AIRFLOW_CONN_{variable}", text)

    return spoil


def _address_of_east(uri: str) -> Callable[[Desk], None]:
    def spoil(desk: Desk) -> None:
        _connection("EAST_METASTORE", None)(desk)
        clusters = desk.policies.directory / "clusters.yaml"
        clusters.write_text(clusters.read_text().replace("connection: east_metastore", f"uris: ['{uri}']"))

    return spoil


def _connections_from(source: str) -> Callable[[Desk], None]:
    def spoil(desk: Desk) -> None:
        desk.with_real_connections()
        desk.patch.setenv("TWINHIVE_CONNECTIONS", source)

    return spoil


CONNECTION_CASES = (
    Case(
        "connections: a source that does not exist",
        ("status", "sales"),
        ("TWINHIVE_CONNECTIONS cannot be used", "'vault'", "airflow or environment"),
        _connections_from("vault"),
    ),
    Case(
        "connection: not known",
        ("status", "sales"),
        ("connection east_hdfs is not known", "AIRFLOW_CONN_EAST_HDFS"),
        _connection("EAST_HDFS", None),
    ),
    Case(
        "connection: not readable",
        ("status", "sales"),
        ("connection east_hdfs cannot be read",),
        _connection("EAST_HDFS", "{"),
    ),
    Case(
        "connection: a port that is none",
        ("status", "sales"),
        ("connection west_hdfs cannot be read",),
        _connection("WEST_HDFS", '{"port": "x"}'),
    ),
    Case(
        "connection: hadoop is no object",
        ("status", "sales"),
        ("connection east_hdfs cannot be used", "extra hadoop"),
        _connection("EAST_HDFS", '{"extra": {"uri": "hdfs://east", "hadoop": 7}}'),
    ),
    Case(
        "connection: a file system without a host",
        ("check", "sales"),
        ("connection east_hdfs cannot be used", "host none"),
        _connection("EAST_HDFS", "{}"),
    ),
    Case(
        "connection: a file system whose address has no scheme",
        ("check", "sales"),
        ("connection west_hdfs cannot be used", "extra uri west"),
        _connection("WEST_HDFS", '{"extra": {"uri": "west"}}'),
    ),
    Case(
        "connection: a metastore without a host",
        ("status", "sales"),
        ("connection east_metastore cannot be used", "no host"),
        _connection("EAST_METASTORE", "{}"),
    ),
    Case(
        "connection: a metastore with a scheme",
        ("status", "sales"),
        ("connection east_metastore cannot be used", "host thrift://hms1:9083", "hosts without a scheme"),
        _connection("EAST_METASTORE", '{"host": "thrift://hms1:9083"}'),
    ),
    Case(
        "connection: a file system with a scheme",
        ("status", "sales"),
        ("connection east_hdfs cannot be used", "host hdfs://east"),
        _connection("EAST_HDFS", '{"host": "hdfs://east"}'),
    ),
    Case(
        "connection: an extra that is a list",
        ("check", "sales"),
        ("connection west_hdfs cannot be used", "extra is of the kind list", "correct AIRFLOW_CONN_WEST_HDFS"),
        _connection("WEST_HDFS", '{"extra": "[1]"}'),
    ),
    Case(
        "clusters.yaml: a port that is none",
        ("check", "sales"),
        ("thrift://hms1:99999 is no address of a metastore",),
        _address_of_east("thrift://hms1:99999"),
    ),
)


def _configured(key: str, value: str, *, source: bool = True) -> Callable[[Desk], None]:
    def spoil(desk: Desk) -> None:
        metastore, address = (desk.world.source, SOURCE_ADDRESS) if source else (desk.world.replica, REPLICA_ADDRESS)
        metastore.configurations[address][key] = value

    return spoil


def _guarded_log(desk: Desk) -> None:
    desk.world.source.guards_log = True


def _no_database(desk: Desk) -> None:
    for name in desk.world.source.table_names("sales"):
        desk.world.source.drop_table(TableName("sales", name), delete_data=False)
    desk.world.source._databases.clear()


def _remote_database(desk: Desk) -> None:
    source = desk.world.source
    database = source.database("sales")
    assert database is not None
    source.set_database_parameters("sales", {**database.parameters, "twinhive_remote": "sales"})


def _replica(**marks: str) -> Callable[[Desk], None]:
    parameters = {key.replace("_", "."): value for key, value in marks.items()}
    return lambda desk: desk.world.replica.create_database(Database("sales", None, None, parameters, thrift="{}"))


def _room(space: Space, at: str = "hdfs://west/") -> Callable[[Desk], None]:
    def spoil(desk: Desk) -> None:
        desk.world.replica_files.quotas[at] = space

    return spoil


def _safe_mode(desk: Desk) -> None:
    desk.world.replica_files.safe_mode = True


def _on(root: str) -> Callable[[Desk], None]:
    def elsewhere(desk: Desk) -> None:
        desk.world.replica_files = InMemoryFiles(root)

    return elsewhere


def _external(**settings: Any) -> Callable[[Desk], None]:
    return lambda desk: desk.policies.add("sales", external_tables=settings)


def _base(path: str) -> Callable[[Desk], None]:
    return _external(base_directory=path)


def _base_is_a_file(desk: Desk) -> None:
    desk.world.replica_files.put("hdfs://west/external", b"a file")


def _claim(content: Any) -> Callable[[Desk], None]:
    text = content if isinstance(content, str) else json.dumps(content)
    return lambda desk: desk.world.replica_files.put("hdfs://west/external/.twinhive-external.json", text.encode())


_OTHERS = {"policy": "other", "source": "east/other", "replica": "west/other", "source_log": "log-east"}


def _table_at(location: str, **settings: Any) -> Callable[[Desk], None]:
    def spoil(desk: Desk) -> None:
        desk.policies.add("sales", external_tables={"base_directory": "hdfs://west/external", **settings})
        desk.world.source.create_table(a_table("sales.far", table_type="EXTERNAL_TABLE", location=location))

    return spoil


def _down(name: str) -> Callable[[Desk], None]:
    return lambda desk: setattr(getattr(desk.world, name), "down", True)


def _forbidden_base(desk: Desk) -> None:
    desk.world.replica_files.forbidden.add("hdfs://west/external")


def _two_in_one(desk: Desk) -> None:
    stay = ["hdfs://west/.*"]
    desk.policies.add("sales", external_tables={"base_directory": "hdfs://west/external", "stay": stay})
    desk.terminal.type("run", "sales", "bootstrap")
    place = "hdfs://west/external/outside"
    desk.world.source.create_table(a_table("sales.stays", table_type="EXTERNAL_TABLE", location=place))


PREFLIGHT_CASES = (
    Case(
        "roots: dumps among tables",
        BOOTSTRAP,
        ("/warehouse is not apart from what tables and databases use",),
        lambda desk: desk.policies.add("sales", dump_root="/warehouse") and None,
    ),
    Case("source: a remote database", BOOTSTRAP, ("east/sales is a remote", "twinhive_remote"), _remote_database),
    Case("source: no database", BOOTSTRAP, ("database sales does not exist on cluster east",), _no_database),
    Case(
        "source: no notification log",
        BOOTSTRAP,
        ("keeps no notification log",),
        _configured("metastore.transactional.event.listeners", " "),
    ),
    Case(
        "source: no change manager",
        BOOTSTRAP,
        ("keeps no dropped files",),
        _configured("metastore.repl.cm.enabled", "false"),
    ),
    Case(
        "source: a log that we may not read",
        BOOTSTRAP,
        ("does not let us read its notification log", "user to the metastore: hive", "hadoop.proxyuser.hive.groups"),
        _guarded_log,
    ),
    Case(
        "source: a log that we may read no more",
        ("run", "sales", "incremental"),
        ("does not let us read its notification log", f"metastore {SOURCE_ADDRESS} of cluster east"),
        _guarded_log,
        follows=True,
    ),
    Case(
        "replica: nobody's database",
        BOOTSTRAP,
        ("does not belong to policy sales", "no mark of any policy"),
        _replica(made_by="ann"),
    ),
    Case("replica: another policy's", BOOTSTRAP, ("the mark of policy other",), _replica(twinhive_policy="other")),
    Case(
        "replica: of another log",
        BOOTSTRAP,
        ("but of source log log-old",),
        _replica(twinhive_policy="sales", twinhive_source_log="log-old"),
    ),
    Case("replica: no room", BOOTSTRAP, ("there is not enough room",), _room(Space(free_bytes=3))),
    Case(
        "replica: no names left",
        BOOTSTRAP,
        ("there is not enough room", "left by quota: 1"),
        _room(Space(free_bytes=10**9, quota_names_left=1), at="hdfs://west/twinhive/staging"),
    ),
    Case("replica: safe mode", BOOTSTRAP, ("is in safe mode",), _safe_mode, code=TRY_AGAIN),
    Case("replica: no HDFS", BOOTSTRAP, ("is no HDFS", "s3a://west"), _on("s3a://west")),
    Case("replica: renames, but has no leases", BOOTSTRAP, ("is no HDFS", "viewfs://west"), _on("viewfs://west")),
    Case(
        "replica: staging elsewhere",
        BOOTSTRAP,
        ("staging_root of policy sales is on another file system",),
        _configured("metastore.warehouse.dir", "hdfs://elsewhere/w", source=False),
    ),
    *(
        Case(f"{name}: does not answer", ("status", "sales"), ("",), _down(name), code=TRY_AGAIN)
        for name in ("source", "replica", "source_files", "replica_files")
        if name != "source_files"
    ),
    Case("source_files: does not answer", BOOTSTRAP, ("",), _down("source_files"), code=TRY_AGAIN),
    Case(
        "dump_root: on neither cluster",
        ("status", "sales"),
        ("dump_root of policy sales is on a file system of neither cluster",),
        lambda desk: (_connection("X", "{}")(desk), desk.policies.add("sales", dump_root="hdfs://north/dumps")),
    ),
    Case("consolidate: nothing was dumped", ("run", "sales", "consolidate"), ("policy sales has no dump",)),
)
EXTERNAL_CASES = (
    Case(
        "external: no base directory",
        BOOTSTRAP,
        ("has external tables and no external_tables.base_directory",),
        _external(),
    ),
    Case("external: a base that is not qualified", BOOTSTRAP, ("is not fully qualified",), _base("/external")),
    Case(
        "external: a base on the source", BOOTSTRAP, ("is on the source's file system",), _base("hdfs://east/external")
    ),
    Case("external: a base that is a file", BOOTSTRAP, ("is a file",), _base_is_a_file),
    Case(
        "external: a base in the warehouse",
        BOOTSTRAP,
        ("is not apart from the replica's managed warehouse",),
        _base("hdfs://west/warehouse/managed/external"),
    ),
    Case("external: a base of another policy", BOOTSTRAP, ("is in use", "policy other"), _claim(_OTHERS)),
    Case(
        "external: a claim that nobody can read",
        BOOTSTRAP,
        ("does not say which policy uses this directory",),
        _claim("{"),
    ),
    Case(
        "external: data in a third place",
        BOOTSTRAP,
        ("in a place that this policy says nothing of", "s3a://lake"),
        _table_at("s3a://lake/far"),
    ),
    Case(
        "external: two places that would be one",
        EXTERNAL,
        ("have their data in two places, which would be one",),
        _two_in_one,
    ),
    Case("external: a base that cannot be written", BOOTSTRAP, ("cannot be written",), _forbidden_base),
    Case(
        "external: pass without a base",
        EXTERNAL,
        ("has external tables and no external_tables.base_directory",),
        _external(),
    ),
)
