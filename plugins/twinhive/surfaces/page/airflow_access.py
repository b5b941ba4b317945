"""Ask Airflow who may see what. A policy is shown to whoever may read its DAG `<policy>.incremental`."""

from pathlib import Path
from typing import Annotated

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import AccessView, DagDetails
from airflow.api_fastapi.core_api.security import GetUserDep, requires_access_view
from airflow.configuration import conf
from fastapi import Depends

from twinhive.operations.journal.address import find_connections_with
from twinhive.runtime.settings import default_directory
from twinhive.surfaces.airflow.connections.journal_connection import journal_of
from twinhive.surfaces.page.airflow_links import MONITOR

find_connections_with(journal_of)

signed_in = Depends(requires_access_view(AccessView.PLUGINS))
"""401 for the anonymous, 403 for those who may not see plugins."""

_SUFFIX = ".incremental"


def readable_policies(user: GetUserDep) -> frozenset[str]:
    """Return the names of the policies that the user may see."""
    dag_ids = get_auth_manager().get_authorized_dag_ids(user=user, method="GET")
    return frozenset(dag_id.removesuffix(_SUFFIX) for dag_id in dag_ids if dag_id.endswith(_SUFFIX))


_PLACEMENT_SUFFIX = ".copies"


def readable_placements(user: GetUserDep) -> frozenset[str]:
    """Return the names of the placements that the user may see: who may read their DAGs."""
    dag_ids = get_auth_manager().get_authorized_dag_ids(user=user, method="GET")
    names = (dag_id.removesuffix(_PLACEMENT_SUFFIX) for dag_id in dag_ids if dag_id.endswith(_PLACEMENT_SUFFIX))
    return frozenset(names)


ReadablePlacements = Annotated[frozenset[str], Depends(readable_placements)]
Readable = Annotated[frozenset[str], Depends(readable_policies)]


def sees_remotes(user: GetUserDep) -> bool:
    """Tell whether the user may see how gateways and remotes are: who may read the DAG that watches them."""
    return get_auth_manager().is_authorized_dag(method="GET", details=DagDetails(id=MONITOR), user=user)


SeesRemotes = Annotated[bool, Depends(sees_remotes)]


def configuration_directory() -> Path:
    """Return where `remotes.yaml` is: as operators find it, wherever the API server was started."""
    return default_directory(conf.get("core", "dags_folder"))
