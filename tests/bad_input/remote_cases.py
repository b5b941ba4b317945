"""What may be wrong where remotes and the gateway are run: the cluster, the file of who may, key files, ports."""

import socket
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest

from tests.bad_input.case import USAGE, Case
from tests.support.policies import PolicyFiles
from twinhive.core.model.connections import Connection, parse_connection
from twinhive.core.model.endpoints import FileSystemEndpoint
from twinhive.core.model.names import TableName
from twinhive.core.model.remotes.data_connectors import DataConnector
from twinhive.core.model.remotes.definitions import Definitions, RemoteDatabase, RemoteTable, refuse_unreadable
from twinhive.federation.gateway.probe import Probed, RemoteState
from twinhive.federation.gateway.remote_pool import ReachedRemote
from twinhive.federation.remotes.access import Access, Allowed
from twinhive.runtime.settings import load_configuration
from twinhive.runtime.settings.remotes import load_remotes
from twinhive.runtime.wiring.gateway_wiring import RemotesWiring, file_system_of
from twinhive.statements.execution.connector_changes import ConnectorChanges
from twinhive.statements.execution.remote_changes import RemoteChanges
from twinhive.statements.execution.remotes_overlay import RemotesSeen
from twinhive.surfaces.cli.gateway_command import listening

RemoteCase = tuple[str, Callable[[object], object], str]
_TWO = ("whose metastore is the local one", "--cluster")


def _file(content: str) -> object:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "remotes.yaml"
        path.write_text(content, encoding="utf-8")
        return load_remotes(path)


def _taken_port() -> object:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return listening("127.0.0.1", taken.getsockname()[1])


def _access(**more: Path) -> Access:
    return Access((Allowed("thrift", ("thrift://*.example:9083",)),), **more)


def _linked_key() -> object:
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "out").symlink_to("/etc/hostname")
        return _access(key_directory=Path(directory)).key_file("out")


def _said(name: str, statement: str, *says: str) -> Case:
    return Case(f"sql: {name}", ("sql", statement, "--cluster", "east"), ("^", *says))


def _resolve(connection_id: str) -> Connection:
    return parse_connection(connection_id, '{"host": "127.0.0.1", "port": 1}')


def _seen() -> RemotesSeen:
    """A local metastore with one connector of ours and one of Hive's; it is asked for nothing else."""
    with tempfile.TemporaryDirectory() as directory:
        configuration = load_configuration(PolicyFiles(Path(directory) / "config").directory)
    seen = RemotesSeen(RemotesWiring(configuration, "east", _resolve))
    for name, kind, url in (("ours", "twinhive", "thrift://a:9083"), ("sales", "mysql", "jdbc:mysql://a")):
        seen.pretend_connector(name, DataConnector(name, kind, url))
    seen.pretend_connector("gone", None)
    return seen


def _connectors() -> ConnectorChanges:
    return ConnectorChanges(_seen(), lambda line: None, lambda *_: pytest.fail("it was done"))


def _remote(at: str = "thrift://b:9083", **of: str) -> object:
    """Make a remote where a metastore at `a` has `shop.own` and the remote database `far`; the remote is as said."""
    far = RemoteDatabase("far", "sales", properties={"hive.metastore.uris": "thrift://b:9083"})
    changes = RemoteChanges(mock.Mock(is_rerun=False), lambda line: None, pretends=True)
    seen, wiring = mock.Mock(), mock.Mock()
    seen.definitions.return_value = Definitions({}, {"far": far})
    seen.has_database.side_effect = lambda name: name in ("shop", "far")
    seen.table.side_effect = lambda name: name if str(name) == "shop.own" else None
    wiring.endpoint.addresses = [("a", 9083)]
    wiring.metastore.addresses.return_value = ["a:9083"]
    wiring.reached.return_value = ReachedRemote(at, at, None, mock.Mock())
    vars(changes).update(_seen=seen, _wiring=wiring)
    local, remote = TableName.parse(of["local"]), TableName.parse(of.get("remote", "sales.orders"))
    with mock.patch.object(RemoteChanges, "_probe", lambda *_: Probed(RemoteState.MISSING, "no such table")):
        changes.create(RemoteTable(local, remote), if_not_exists=False)
    return pytest.fail("it was made")


def _remote_database(local: str) -> object:
    changes = RemoteChanges(mock.Mock(is_rerun=False), lambda line: None, pretends=True)
    seen = mock.Mock()
    seen.definitions.return_value = Definitions()
    vars(changes).update(_seen=seen)
    return changes.create(RemoteDatabase(local, "sales"), if_not_exists=False)


def _create(name: str, kind: str = "twinhive", url: str = "thrift://a:9083") -> object:
    return _connectors().create(DataConnector(name, kind, url), if_not_exists=False)


CONNECTOR_STATEMENT_CASES: tuple[Case, ...] = (
    _said("a connector without an address", "CREATE CONNECTOR c TYPE 'twinhive'", "column 35", "expected: URL"),
    _said("a connector without a type", "CREATE CONNECTOR c URL 'x'", "column 20", "expected: TYPE"),
    _said("a connector with a name that is none", "CREATE CONNECTOR `c-d` TYPE 'twinhive' URL 'x'", "of a connector"),
    _said("a connector with the words of a database", "CREATE CONNECTOR c TYPE 't' URL 'x' WITH DBPROPERTIES ()"),
    _said("a key twice", "CREATE CONNECTOR c TYPE 't' URL 'x' WITH DCPROPERTIES ('a'='b', 'a'='c')", "second time"),
    _said("drop no connector", "DROP CONNECTOR", "the end of the statement"),
    _said("connectors of a database", "SHOW CONNECTORS IN d", "found:    IN"),
    _said("USING nothing", "CREATE REMOTE DATABASE d USING", "column 31", "expected: a name"),
    _said("USING and VIA", "CREATE REMOTE DATABASE d USING c VIA 'ssh'", "found:    VIA", "say either USING"),
    _said("CONNECTED TO and USING", "CREATE REMOTE DATABASE d CONNECTED TO x USING c", "connector.remoteDbName"),
    _said("a table USING", "CREATE REMOTE TABLE d.t USING c", "a remote table has no USING"),
    _said(
        "a table by its parameter",
        "CREATE REMOTE TABLE d.t WITH TBLPROPERTIES ('twinhive_remote' = 'a.b')",
        "column 45",
        "says by CONNECTED TO",
    ),
    _said(
        "a connector by its parameter",
        "CREATE REMOTE DATABASE d WITH DBPROPERTIES ('a' = 'b', 'twinhive_remote_via' = 'ssh')",
        "says by VIA",
    ),
    _said("the second statement", "SHOW CONNECTORS; DROP CONNECTOR", "expected: a name"),
)
REMOTE_COMMAND_CASES: tuple[Case, ...] = (
    *CONNECTOR_STATEMENT_CASES,
    Case("remotes: a cluster that is not there", ("remotes", "--cluster", "north"), ("there is no cluster north",)),
    Case("remotes: which of two clusters", ("remotes",), _TWO),
    Case("remotes: something else", ("remotes", "mend"), ("'mend' is not known; expected check",), code=USAGE),
    Case("remotes: check, and ask nobody", ("remotes", "check", "--no-ask"), ("asks nobody",), code=USAGE),
    Case("gateway: which of two clusters", ("gateway",), _TWO),
)
REMOTE_CASES: tuple[RemoteCase, ...] = (
    (
        "a remote's name with its catalog",
        lambda _: refuse_unreadable(RemoteDatabase("ours", "@hive#sales")),
        "a catalog before its name",
    ),
    ("create connector: of Hive's", lambda _: _create("c", "mysql", "jdbc:mysql://a"), "it is of type 'mysql'"),
    ("create connector: a name that is taken", lambda _: _create("ours"), "connector ours is there already"),
    (
        "create connector: an address that may not be",
        lambda _: _create("gone", url="thrift://b:1"),
        "may not be reached",
    ),
    ("create connector: no address", lambda _: _create("gone", url="west"), "cannot be read"),
    ("drop connector: none of that name", lambda _: _connectors().drop("gone", if_exists=False), "no connector gone"),
    ("drop connector: of Hive's", lambda _: _connectors().drop("sales", if_exists=True), "is not for a gateway"),
    ("database: a connector that is not there", lambda _: _connectors().database("d", "gone", {}), "no connector gone"),
    ("database: a connector of Hive's", lambda _: _connectors().database("d", "sales", {}), "is not for a gateway"),
    ("create remote table: a database that is not there", lambda _: _remote(local="no.t"), "there is no database no"),
    ("create remote table: a name that exists", lambda _: _remote(local="shop.own"), "shop.own is there already"),
    ("create remote table: in a remote database", lambda _: _remote(local="far.t"), "database far is a remote itself"),
    ("create remote table: missing there", lambda _: _remote(local="shop.t"), "sales.orders is not there"),
    (
        "create remote table: of itself",
        lambda _: _remote(local="shop.t", remote="shop.t", at="thrift://a:9083"),
        "shop.t would stand for itself",
    ),
    ("create remote database: a name that exists", lambda _: _remote_database("shop"), "shop is there already"),
    ("remotes.yaml: an unknown key", lambda _: _file("allowed: []"), "allowed: unknown key"),
    ("remotes.yaml: a rule without addresses", lambda _: _file("allow: [{connector: ssh}]"), "addresses: missing"),
    ("remotes.yaml: no YAML", lambda _: _file("{"), "not readable YAML"),
    ("remotes.yaml: a gateway without a port", lambda _: _file("gateways: [gate.example]"), "expected host:port"),
    ("remotes.yaml: a port that is none", lambda _: _file("gateways: ['gate.example:70000']"), "expected host:port"),
    ("gateway: a port that is taken", lambda _: _taken_port(), "cannot listen on"),
    (
        "access: an address that no rule has",
        lambda _: _access().rule_for("shop.t", "thrift", ["thrift://evil:9083"]),
        "shop.t may not be reached",
    ),
    (
        "access: one of several addresses",
        lambda _: _access().rule_for("far", "thrift", ["thrift://a.example:9083", "thrift://evil:9083"]),
        "far may not be reached",
    ),
    ("access: another connector", lambda _: _access().rule_for("far", "ssh", ["thrift://a.example:9083"]), "far may"),
    ("key file: no directory", lambda _: _access().key_file("id"), "may not be read"),
    ("key file: a path", lambda _: _access(key_directory=Path("/etc")).key_file("../etc/hostname"), "may not be read"),
    ("key file: a link that leads out", lambda _: _linked_key(), "may not be read"),
    (
        "iceberg: a path on no known file system",
        lambda _: file_system_of("hdfs://north/x", [FileSystemEndpoint("hdfs://east", {}, None)]),
        "no file system that is known",
    ),
)
