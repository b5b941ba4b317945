"""Find the journal's database by a connection of Airflow: its password then comes from wherever Airflow has it."""

from airflow.sdk import BaseHook

from twinhive.core.model.errors import InvalidSettings, Unreachable
from twinhive.operations.journal.address import VARIABLE, postgresql_address


def journal_of(connection_id: str) -> str:
    """Return the address of a PostgreSQL connection.

    Raises InvalidSettings for another one, Unreachable without one: whether a backend has failed Airflow does not say.
    """
    try:
        found = BaseHook.get_connection(connection_id)
    except Exception as error:  # whatever a backend, or the way to it, fails with
        raise Unreachable(
            f"Airflow gave no connection for the journal ({VARIABLE}=airflow://{connection_id})",
            found=f"{type(error).__name__}: none of this id, or a secrets backend that could not be asked",
            expected="a connection of the type postgres with a host and a database (schema)",
            next_step="nothing, if it passes: what comes later is written. If it goes on, see that the secrets backend "
            f"answers, and that the connection is there: airflow connections get {connection_id}",
        ) from error
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
