"""Once what is the same of all DAGs."""

from collections.abc import Mapping
from typing import Any

from airflow.sdk import DAG, Param

from twinhive.settings import PolicyEntry

ALWAYS: Mapping[str, Any] = {
    "catchup": False,
    # A run goes on with the files as they are now, also where Airflow keeps versions of them: who corrects a policy
    # file and clears a task wants the corrected one, and a first copy of days must see changed options.
    "disable_bundle_versioning": True,
}


def with_form(dag: DAG, params: Mapping[str, Param]) -> DAG:
    """Give a DAG that has all its tasks the fields of its form.

    Airflow copies the fields of a DAG to each task that is made after them, and checks each copy's schema several times
    when it stores the DAG. A task that runs gets those of its DAG all the same.
    """
    dag.params = dict(params)  # type: ignore[assignment]  # attrs converts it
    return dag


def red_tag(entry: PolicyEntry) -> list[str]:
    """Return the tag of a policy that cannot be used."""
    return ["invalid"] if entry.error else []
