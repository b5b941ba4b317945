"""The sandbox's Airflow has a database for itself and another one for the journal, on one server."""

from pathlib import Path

from sandbox.fleet import build_servers
from sandbox.layout import InstanceRecord, Layout
from sandbox.postgres import AIRFLOW_DATABASE, JOURNAL_DATABASE


def test_airflow_and_the_journal_share_a_server_and_no_database(tmp_path: Path) -> None:
    record = InstanceRecord("test", str(tmp_path), 21000, "secret")
    servers = build_servers(Layout(tmp_path), record, tmp_path, tmp_path)
    environment = servers["airflow"].launch().environment
    own, journal = environment["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"], environment["TWINHIVE_JOURNAL"]
    assert own.rpartition("/")[0] == journal.rpartition("/")[0]
    assert [url.rpartition("/")[2] for url in (own, journal)] == [AIRFLOW_DATABASE, JOURNAL_DATABASE]
    assert "postgres" in servers["airflow"].depends_on
