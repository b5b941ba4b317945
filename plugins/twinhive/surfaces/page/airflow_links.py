"""Where Airflow shows what this page speaks of. All addresses begin at Airflow's root, wherever it is mounted."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from twinhive.operations.journal.records import WHOLE_RUN

PREFIX = "/replication"
"""Where Airflow mounts the page."""

MONITOR = "twinhive.monitor"
"""The DAG whose task fills the journal each minute."""


@dataclass(frozen=True)
class Links:
    """Make addresses. `airflow` is the path of Airflow's root without a final slash, `page` that of this page."""

    airflow: str
    page: str

    def overview(self, **query: object) -> str:
        """Return the address of the overview."""
        return f"{self.page}/{_query(query)}"

    def policy(self, policy: str, **query: object) -> str:
        """Return the address of a policy's page."""
        return f"{self.page}/policies/{_quoted(policy)}{_query(query)}"

    def file(self, name: str) -> str:
        """Return the address of one of the page's own files."""
        return f"{self.page}/static/{_quoted(name)}"

    def dag(self, dag_id: str) -> str:
        """Return the address of a DAG; its trigger form opens from there."""
        return f"{self.airflow}/dags/{_quoted(dag_id)}"

    def run(self, dag_id: str, run_id: str) -> str:
        """Return the address of a run."""
        return f"{self.dag(dag_id)}/runs/{_quoted(run_id)}"

    def task(self, dag_id: str, run_id: str, task_id: str, map_index: int | None = None, attempt: int = 0) -> str:
        """Return the address of a task instance: its log, with the button that clears it; of a whole run, that."""
        if task_id == WHOLE_RUN:
            return self.run(dag_id, run_id)
        mapped = f"/mapped/{map_index}" if map_index is not None and map_index >= 0 else ""
        return f"{self.run(dag_id, run_id)}/tasks/{_quoted(task_id)}{mapped}{_query({'try_number': attempt})}"


def _quoted(text: str) -> str:
    return quote(text, safe="")


def _query(query: Mapping[str, object]) -> str:
    given = {key: value for key, value in query.items() if value}
    return f"?{urlencode(given)}" if given else ""
