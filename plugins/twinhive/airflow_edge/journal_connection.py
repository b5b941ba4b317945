"""Find the journal's database by a connection of Airflow: its password then comes from wherever Airflow has it."""

from airflow.sdk import BaseHook
from airflow.sdk.exceptions import AirflowNotFoundException

from twinhive.domain.errors import InvalidSettings
from twinhive.journal.address import VARIABLE, postgresql_address


def journal_of(connection_id: str) -> str:
    """Return the address of a PostgreSQL connection. Raises InvalidSettings for another, or one that is not known."""
    try:
        found = BaseHook.get_connection(connection_id)
    except AirflowNotFoundException as error:
        raise _unusable(connection_id, "no connection of this id, or a backend that did not answer") from error
    if found.conn_type not in ("postgres", "postgresql") or not (found.host and found.schema):
        raise _unusable(connection_id, f"type {found.conn_type}, host {found.host}, database {found.schema}")
    return postgresql_address(found.host, found.port, found.schema, found.login, found.password)


def _unusable(connection_id: str, found: str) -> InvalidSettings:
    return InvalidSettings(
        f"the journal cannot be opened ({VARIABLE}=airflow://{connection_id})",
        found=found,
        expected="a connection of the type postgres with a host and a database (schema)",
        next_step=f"look at it: airflow connections get {connection_id}",
    )
