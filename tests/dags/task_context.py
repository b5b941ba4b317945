"""Be what Airflow hands to a task, as far as our operators look at it."""

from types import SimpleNamespace
from typing import Any


def a_context(dag: Any, task_id: str, **conf: Any) -> dict[str, Any]:
    """Return the context of a task's first try in a run that was triggered with `conf`."""
    return {
        "dag": dag,
        "dag_run": SimpleNamespace(conf=conf),
        "params": {name: conf.get(name, param.value) for name, param in dag.params.items()},
        "run_id": "manual__1",
        "ti": SimpleNamespace(task_id=task_id, try_number=1),
    }
