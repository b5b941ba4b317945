"""Register the timetable of DAGs that people start. By itself, so that no mistake elsewhere can take the DAGs along."""

from typing import Any

from airflow.plugins_manager import AirflowPlugin


class TwinhiveTimetables(AirflowPlugin):
    """Let Airflow read back what it has stored of those DAGs."""

    name = "twinhive_timetables"

    @property
    def timetables(self) -> list[Any]:  # type: ignore[override]  # asked for late
        """Return the timetables; tasks never ask for them."""
        from twinhive.airflow_edge import timetable_of_before
        from twinhive.surfaces.airflow.dags.run_ids import StartedByPeople

        return [StartedByPeople, timetable_of_before()]
