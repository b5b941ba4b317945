"""Resolve connections through Airflow: environment, secrets backend, or its own database."""

from typing import Any

from airflow.sdk import BaseHook
from airflow.sdk.exceptions import AirflowNotFoundException, AirflowSecretsBackendAccessDenied

from twinhive.core.model.connections import Connection, in_texts
from twinhive.core.model.errors import InvalidSettings, Unreachable
from twinhive.core.model.next_steps import RETRIES

_EXPECTED = "a connection of this id, as clusters.yaml names it"
_LOOK = (
    "whether the secrets backend and Airflow's API server answer (with logging level DEBUG the log says which failed)"
)


def resolve_from_airflow(connection_id: str) -> Connection:
    """Return a connection. Raises Unreachable without one: whether a backend has failed Airflow does not say.

    Raises InvalidSettings for one that cannot be used.
    """
    try:
        found = BaseHook.get_connection(connection_id)
    except AirflowNotFoundException as error:
        raise Unreachable(
            f"Airflow gave no connection {connection_id}",
            found="none of this id, or a secrets backend that could not be asked: Airflow does not tell them apart",
            expected=_EXPECTED,
            next_step=RETRIES
            + f". If it goes on, look {_LOOK}; if they do, correct the id in clusters.yaml, or define "
            "the connection in the place where the others are",
        ) from error
    except AirflowSecretsBackendAccessDenied as error:
        raise Unreachable(
            f"Airflow kept connection {connection_id} to itself",
            found=f"{type(error).__name__}: {error}",
            expected=_EXPECTED,
            next_step=RETRIES + ", with another token. If it goes on, look at the log of Airflow's API server: who may "
            "read this connection (team, secrets backend's rules)",
        ) from error
    except Exception as error:  # whatever a backend, or the way to it, fails with
        raise Unreachable(
            f"Airflow could not be asked for connection {connection_id}",
            found=f"{type(error).__name__}: {error}",
            expected=_EXPECTED,
            next_step=RETRIES + f". If it goes on, look {_LOOK}",
        ) from error
    return as_airflow_has_it(connection_id, found)


def as_airflow_has_it(connection_id: str, found: Any) -> Connection:
    """Return a connection out of Airflow's, as its tasks or its own commands have it. Raises InvalidSettings."""
    kind, host = found.conn_type or "", found.host or ""
    try:
        connection = Connection(connection_id, host, found.port, found.login, found.extra_dejson, found.password, kind)
    except Exception as error:  # decrypting fails with what its library raises
        raise InvalidSettings(
            f"connection {connection_id} cannot be read",
            found=type(error).__name__,
            expected="a password and an extra that Airflow can decrypt",
            next_step="look at AIRFLOW__CORE__FERNET_KEY, or define the connection again",
        ) from error
    return in_texts(connection, f"connection {connection_id}")
