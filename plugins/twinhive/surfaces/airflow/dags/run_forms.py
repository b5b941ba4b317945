"""Check what a run was triggered with: the API, other DAGs and the form may all hand it over."""

from copy import copy
from typing import Any

from airflow.sdk.exceptions import ParamValidationError

from twinhive.core.model.errors import InvalidSettings


def checked_form(context: Any) -> dict[str, Any]:
    """Return the form's values by name. Raises InvalidSettings for a key that the DAG does not have, or a wrong value.

    Airflow takes unknown keys without a word.
    """
    dag, given = context["dag"], context["dag_run"].conf or {}
    if unknown := sorted(set(given) - set(dag.params)):
        raise InvalidSettings(
            f"the trigger form of {dag.dag_id} holds unknown keys",
            found=", ".join(unknown),
            expected=f"only {', '.join(sorted(dag.params))}",
            next_step="trigger a new run without them",
        )
    return {name: _checked(dag, name, context["params"][name]) for name in dag.params}


def _checked(dag: Any, name: str, value: Any) -> Any:
    # A field that resolves a value keeps it as its new default.
    field = copy(dag.params.get_param(name))
    try:
        return field.resolve(value)
    except ParamValidationError as error:
        raise InvalidSettings(
            f"the trigger form of {dag.dag_id} holds a value for {name} that cannot be used",
            found=repr(value),
            expected=str(error).strip().partition("\n")[0],
            next_step="trigger a new run with another value",
        ) from error
