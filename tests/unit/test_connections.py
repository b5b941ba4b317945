import pytest

from twinhive.model.connections import Connection, parse_connection
from twinhive.model.errors import InvalidSettings
from twinhive.settings import resolve_from_environment


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
