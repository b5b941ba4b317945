"""Say where a terminal gets connections from: the environment, or all that Airflow looks through."""

import os

from twinhive.connections import AIRFLOW, SOURCE_VARIABLE
from twinhive.domain.errors import InvalidSettings
from twinhive.settings import Resolve, resolve_from_environment

_ENVIRONMENT = "environment"


def resolver() -> Resolve:
    """Return what resolves connections: `TWINHIVE_CONNECTIONS=airflow` (or `--airflow`) asks Airflow.

    Raises InvalidSettings for another value.
    """
    given = os.environ.get("TWINHIVE_CONNECTIONS") or _ENVIRONMENT
    if given == _ENVIRONMENT:
        return resolve_from_environment
    if given == AIRFLOW:
        # It takes seconds, which whoever does without need not wait.
        from twinhive.airflow_edge.terminal_connections import resolve_through_airflow

        return resolve_through_airflow
    raise InvalidSettings(
        f"the variable {SOURCE_VARIABLE} cannot be used",
        found=repr(given),
        expected=f"{AIRFLOW} or {_ENVIRONMENT}",
        next_step=f"correct {SOURCE_VARIABLE}, or unset it",
    )
