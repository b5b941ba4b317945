"""Class paths of before the areas, for one version: those that Airflow has stored, and those that DAG files import.

Airflow stores the class path of a trigger that waits, and of a DAG's timetable, and loads them again after an upgrade.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_AIRFLOW = "twinhive.surfaces.airflow"
MOVED = {
    # stored by Airflow
    "waiting.event_id_trigger": f"{_AIRFLOW}.triggers.event_id_trigger",
    "waiting.message_trigger": f"{_AIRFLOW}.triggers.message_trigger",
    "waiting.notification_trigger": f"{_AIRFLOW}.triggers.notification_trigger",
    "waiting.set_trigger": f"{_AIRFLOW}.triggers.set_trigger",
    "dags.run_ids": f"{_AIRFLOW}.dags.run_ids",
    # named by a package that was installed before
    "provider": f"{_AIRFLOW}.provider",
    "stomp_queue": f"{_AIRFLOW}.queues.stomp_queue",
    # imported by DAG files
    "cluster_sql_operator": "twinhive.operators",
    "dag_factory": "twinhive.dags",
    "event_id_sensor": "twinhive.sensors",
    "external_sensor": "twinhive.sensors",
    "set_operators": "twinhive.operators",
    "set_sensor": "twinhive.sensors",
    "statement_operator": "twinhive.operators",
    "write_partitions_operator": "twinhive.operators",
}
"""Modules of before, below this one, and where what they held is now."""


class _Moved(ModuleType):
    """A module whose names are those of another one, which is imported when the first of them is asked for."""

    def __getattr__(self, name: str) -> Any:
        moved = MOVED.get(self.__name__.removeprefix(f"{__name__}."))
        if moved is None or name.startswith("__"):
            raise AttributeError(f"module {self.__name__} has no attribute {name}")
        return getattr(import_module(moved), name)


def timetable_of_before() -> type:
    """Return the timetable of people's DAGs under the path that Airflow has stored of earlier versions of them.

    Airflow finds timetables by the path of their class alone; without it the page of a run of before is an error.
    """
    module = "dags.run_ids"
    timetable = import_module(MOVED[module]).StartedByPeople
    return type(timetable.__name__, (timetable,), {"__module__": f"{__name__}.{module}"})


for path in ("waiting", "dags", *MOVED):
    sys.modules[f"{__name__}.{path}"] = _Moved(f"{__name__}.{path}")
