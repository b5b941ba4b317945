import pytest

from twinhive.core.model.connections import Connection, parse_connection
from twinhive.core.model.errors import InvalidSettings
from twinhive.runtime.settings import FileSystemSettings, MetastoreSettings, resolve_from_environment
from twinhive.runtime.wiring.resolved_endpoints import file_system_endpoint, host_and_port, metastore_endpoint


@pytest.mark.parametrize(
    ("text", "connection"),
    [
        (
            '{"conn_type":"hive_metastore","host":"m1,m2","port":9083,"extra":{"user":"hive"}}',
            Connection("c", "m1,m2", 9083, None, {"user": "hive"}),
        ),
        ('{"conn_type":"hdfs","host":"east","extra":"{\\"a\\": 1}"}', Connection("c", "east", None, None, {"a": 1})),
        ("hive-metastore://me@m1:9083/?user=hive", Connection("c", "m1", 9083, "me", {"user": "hive"})),
        ("hdfs://east/?__extra__=%7B%22a%22%3A1%7D", Connection("c", "east", None, None, {"a": 1})),
    ],
)
def test_both_forms_of_airflows_variables_are_read(text: str, connection: Connection) -> None:
    assert parse_connection("c", text) == connection


@pytest.mark.parametrize("text", ["{", '{"port": "x"}', "hdfs://east:port/"])
def test_what_cannot_be_read_names_the_variable(text: str) -> None:
    with pytest.raises(InvalidSettings, match="AIRFLOW_CONN_C"):
        parse_connection("c", text)


def test_a_missing_connection_names_the_variable_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AIRFLOW_CONN_NOWHERE", raising=False)
    with pytest.raises(InvalidSettings, match="set AIRFLOW_CONN_NOWHERE"):
        resolve_from_environment("nowhere")


@pytest.mark.parametrize(
    ("said", "login", "extra", "metastore", "files"),
    [
        (None, "hive", "ann", "hive", "ann"),
        (None, None, "ann", "ann", "ann"),
        (None, "hive", None, "hive", "hive"),
        (None, None, None, None, None),
        ("etl", "hive", "ann", "etl", "etl"),
    ],
)
def test_who_we_are_is_said_by_the_file_then_as_the_page_has_it(
    said: str | None, login: str | None, extra: str | None, metastore: str | None, files: str | None
) -> None:
    """docs/configuration.md: a metastore's login comes before its extra, a file system's after it."""
    found = Connection("c", "h", None, login, {"user": extra} if extra else {})
    assert metastore_endpoint(MetastoreSettings(connection="c", user=said), lambda name: found).user == metastore
    assert file_system_endpoint(FileSystemSettings(connection="c", user=said), lambda name: found).user == files


def test_a_blank_before_a_port_is_no_part_of_it() -> None:
    assert host_and_port("h1: 9083", 1) == ("h1", 9083)


@pytest.mark.parametrize(
    ("host", "port", "uri"),
    [
        ("", None, None),
        ("", None, ""),
        ("", None, "west"),
        ("nn1,nn2", 8020, None),
        ("nn1", 99999, None),
        ("nn1/x", None, None),
        ("hdfs://west", None, None),
    ],
)
def test_an_address_of_no_file_system_is_refused_before_anybody_asks_it(host: str, port: int | None, uri: str) -> None:
    found = Connection("c", host, port, None, {} if uri is None else {"uri": uri})
    with pytest.raises(InvalidSettings, match=r"(?s)connection c cannot be used.*hdfs://west"):
        file_system_endpoint(FileSystemSettings(connection="c"), lambda name: found)


@pytest.mark.parametrize(
    ("host", "port", "root"), [("nn1", None, "hdfs://nn1"), ("name_service-1", None, "hdfs://name_service-1")]
)
def test_a_name_node_or_a_nameservice_is_a_root(host: str, port: int | None, root: str) -> None:
    found = Connection("c", host, port, None, {})
    assert file_system_endpoint(FileSystemSettings(connection="c"), lambda name: found).root == root
