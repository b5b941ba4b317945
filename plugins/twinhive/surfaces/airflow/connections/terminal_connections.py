"""Resolve connections in a terminal as Airflow's own commands do."""

import logging
import os

from airflow.models.connection import Connection as Kept
from airflow.sdk.exceptions import AirflowNotFoundException

from twinhive.core.model.connections import Connection
from twinhive.core.model.errors import UnknownConnection
from twinhive.surfaces.airflow.connections.airflow_connections import as_airflow_has_it


def resolve_through_airflow(connection_id: str) -> Connection:
    """Look through Airflow's environment, secrets backend and database.

    Raises UnknownConnection that says what to look at, InvalidSettings for one that cannot be used.
    """
    # A backend that fails writes a traceback for each connection.
    logging.getLogger("airflow").setLevel(logging.CRITICAL)
    try:
        found = Kept.get_connection_from_secrets(connection_id)
    except AirflowNotFoundException:
        home = os.environ.get("AIRFLOW_HOME") or "~/airflow"
        raise _unknown(connection_id, f"none of this id in the Airflow of AIRFLOW_HOME={home}") from None
    return as_airflow_has_it(connection_id, found)


def _unknown(connection_id: str, found: str) -> UnknownConnection:
    return UnknownConnection(
        f"connection {connection_id} is not known to Airflow",
        found=found,
        expected="a connection of this id, in its environment, secrets backend or database",
        next_step="run this where `airflow connections get` shows it, with Airflow's own environment",
    )
