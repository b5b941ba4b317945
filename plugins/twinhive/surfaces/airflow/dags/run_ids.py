"""Give runs that people start by hand ids of which a second click makes no second one."""

from typing import Any

from airflow.timetables.simple import NullTimetable

_SECONDS = 10


class StartedByPeople(NullTimetable):
    """No schedule. Runs that are triggered within the same ten seconds get one id: Airflow refuses the second (409).

    Whoever wants more names the run: an id that is given is taken as it is.
    """

    description = "Started by people, and by other DAGs"

    def generate_run_id(self, *, run_type: Any, run_after: Any, **more: Any) -> str:
        """Return an id that holds the time in steps of ten seconds."""
        moment = run_after.replace(second=run_after.second // _SECONDS * _SECONDS, microsecond=0)
        run_id: str = run_type.generate_run_id(suffix=moment.isoformat())
        return run_id
