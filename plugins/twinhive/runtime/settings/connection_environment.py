"""Resolve connections from the environment, as Airflow would."""

import os
from collections.abc import Callable

from twinhive.core.model.connections import Connection, environment_name, parse_connection
from twinhive.core.model.errors import UnknownConnection

Resolve = Callable[[str], Connection]


def resolve_from_environment(connection_id: str) -> Connection:
    """Resolve a connection without Airflow. Raises InvalidSettings that names its variable; without one
    UnknownConnection.
    """
    name = environment_name(connection_id)
    text = os.environ.get(name)
    if text is None:
        raise UnknownConnection(
            f"connection {connection_id} is not known",
            found=f"no variable {name}",
            expected=f"a connection in the variable {name}, as Airflow reads it",
            next_step=f"set {name}, or let Airflow say it: twinhive --airflow ... (TWINHIVE_CONNECTIONS=airflow)",
        )
    return parse_connection(connection_id, text)
