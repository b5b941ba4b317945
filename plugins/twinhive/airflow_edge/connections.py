"""Resolve connections through Airflow: environment, secrets backend, or its own database."""

from airflow.sdk import BaseHook
from airflow.sdk.exceptions import AirflowNotFoundException

from twinhive.connections import Connection
from twinhive.domain.errors import InvalidSettings


def resolve_from_airflow(connection_id: str) -> Connection:
    """Return a connection. Raises InvalidSettings when Airflow does not know it."""
    try:
        found = BaseHook.get_connection(connection_id)
    except AirflowNotFoundException as error:
        raise InvalidSettings(
            f"Airflow knows no connection {connection_id}",
            found="no connection of this id",
            expected="a connection of this id, as clusters.yaml names it",
            next_step=f"airflow connections add {connection_id} --conn-type ... --conn-host ...; then clear this task",
        ) from error
    return Connection(connection_id, found.host or "", found.port, found.login, found.extra_dejson)
