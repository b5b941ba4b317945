"""What a terminal knows connections and pools by: the environment alone, or Airflow."""

import os
from functools import partial

from twinhive.core.model.connections import AIRFLOW, SOURCE_VARIABLE, Connection
from twinhive.core.model.errors import InvalidSettings, TwinhiveError, UnknownConnection
from twinhive.runtime.settings import Configuration, PolicySettings, Resolve, resolve_from_environment
from twinhive.runtime.wiring.resolved_endpoints import file_system_endpoint, metastore_endpoint

_ENVIRONMENT = "environment"


def resolver() -> Resolve:
    """Return what resolves connections: `TWINHIVE_CONNECTIONS=airflow` (or `--airflow`) asks Airflow.

    Raises InvalidSettings for another value.
    """
    if not asks_airflow():
        return resolve_from_environment
    # It takes seconds, which whoever does without need not wait.
    from twinhive.surfaces.airflow.connections.terminal_connections import resolve_through_airflow

    return resolve_through_airflow


def remembering(resolve: Resolve) -> Resolve:
    """Ask for each connection once, also for one that cannot be had: each place that is looked at takes its time."""
    known: dict[str, Connection | TwinhiveError] = {}

    def resolve_once(connection_id: str) -> Connection:
        if connection_id not in known:
            try:
                known[connection_id] = resolve(connection_id)
            except TwinhiveError as error:
                known[connection_id] = error
        found = known[connection_id]
        if isinstance(found, TwinhiveError):
            raise found
        return found

    return resolve_once


def troubles_of_pools(policy: str, settings: PolicySettings) -> list[TwinhiveError]:
    """Return what is wrong with the pools that a policy names, as far as this terminal asks Airflow."""
    if not asks_airflow():
        return []
    from twinhive.surfaces.airflow.connections.terminal_pools import missing_pools

    return missing_pools(policy, settings)


def troubles_of_connections(
    configuration: Configuration, settings: PolicySettings, resolve: Resolve
) -> list[TwinhiveError]:
    """Return what is wrong with the connections of a policy's clusters, of those that this terminal knows."""
    found: dict[str, TwinhiveError] = {}
    for name in (settings.source.cluster, settings.replica.cluster):
        cluster = configuration.clusters[name]
        asks = (partial(metastore_endpoint, cluster.metastore), partial(file_system_endpoint, cluster.file_system))
        for ask in asks:
            try:
                ask(resolve)
            except UnknownConnection as error:
                if asks_airflow():  # elsewhere it may be known where tasks run
                    found[str(error)] = error
            except TwinhiveError as error:
                found[str(error)] = error
    return list(found.values())


def asks_airflow() -> bool:
    """Return True where a terminal asks Airflow. Raises InvalidSettings for a variable that cannot be used."""
    given = os.environ.get("TWINHIVE_CONNECTIONS") or _ENVIRONMENT
    if given in (AIRFLOW, _ENVIRONMENT):
        return given == AIRFLOW
    raise InvalidSettings(
        f"the variable {SOURCE_VARIABLE} cannot be used",
        found=repr(given),
        expected=f"{AIRFLOW} or {_ENVIRONMENT}",
        next_step=f"correct {SOURCE_VARIABLE}, or unset it",
    )
