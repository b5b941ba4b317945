"""Operate a running Airflow through its REST API, as a person would in its pages."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import httpx

from sandbox.errors import SandboxError
from sandbox.plain_http import NO_TLS

_FINISHED = ("success", "failed")
_PAGE = 100
"""Airflow answers no more at once, whatever limit is asked for."""
_REPEATABLE = ("GET", "PATCH")
_REPEATS = 5
"""Airflow answers 500 when two of its transactions want the same rows; what says a state may be said again."""
_COMPONENTS = ("metadatabase", "scheduler", "triggerer", "dag_processor")


@dataclass
class AirflowApi:
    """Be a signed-in user of one Airflow."""

    url: str
    username: str
    password: str = field(repr=False)
    _token: str = field(default="", init=False, repr=False)

    def is_healthy(self, since: float = 0) -> bool:
        """Tell whether all of Airflow's components work, and have said so after `since` (seconds of the epoch)."""
        try:
            answer = httpx.get(f"{self.url}/api/v2/monitor/health", timeout=5, verify=NO_TLS)
            health = answer.json()
        except (httpx.HTTPError, ValueError):
            return False
        return answer.is_success and all(_is_well(component, health.get(component), since) for component in _COMPONENTS)

    def dag_ids(self) -> list[str]:
        """List the DAGs that were parsed."""
        found: list[str] = []
        while True:
            page = self._get(f"/dags?limit={_PAGE}&offset={len(found)}&order_by=dag_id&exclude_stale=true")
            found += [dag["dag_id"] for dag in page["dags"]]
            if not page["dags"] or len(found) >= page["total_entries"]:
                return found

    def import_errors(self) -> dict[str, str]:
        """Return the error of every DAG file that was not parsed."""
        errors = self._get("/importErrors?limit=1000")["import_errors"]
        return {error["filename"]: error["stack_trace"] for error in errors}

    def unpause(self, dag_id: str) -> None:
        """Let a DAG run."""
        self._send("PATCH", f"/dags/{dag_id}", {"is_paused": False})

    def pause(self, dag_id: str) -> None:
        """Keep a DAG from running."""
        self._send("PATCH", f"/dags/{dag_id}", {"is_paused": True})

    def trigger(self, dag_id: str, conf: Mapping[str, Any] | None = None, run_id: str | None = None) -> str:
        """Start a run and return its id."""
        body: dict[str, Any] = {"logical_date": None, "conf": dict(conf or {})}
        if run_id:
            body["dag_run_id"] = run_id
        return str(self._send("POST", f"/dags/{dag_id}/dagRuns", body)["dag_run_id"])

    def dag_runs(self, dag_id: str) -> list[dict[str, Any]]:
        """List the newest runs of a DAG, newest first."""
        runs: list[dict[str, Any]] = self._get(f"/dags/{dag_id}/dagRuns?order_by=-run_after&limit=100")["dag_runs"]
        return runs

    def dag_run(self, dag_id: str, run_id: str) -> dict[str, Any]:
        """Return a run; its `state` is queued, running, success or failed."""
        return self._get(f"/dags/{dag_id}/dagRuns/{run_id}")

    def wait(self, dag_id: str, run_id: str, seconds: float = 900) -> str:
        """Wait until a run has ended and return its state, however slow the machine is.

        Raises SandboxError when its tasks are what they were `seconds` before.
        """
        deadline, known = time.monotonic() + seconds, self._progress(dag_id, run_id)
        while (state := str(self.dag_run(dag_id, run_id)["state"])) not in _FINISHED:
            if time.monotonic() > deadline:
                found = self._progress(dag_id, run_id)
                if found == known:
                    stuck = f"run {run_id} of {dag_id} is still {state}, and nothing has changed for {seconds:.0f} s"
                    raise SandboxError(f"{stuck}: {found}")
                deadline, known = time.monotonic() + seconds, found
            time.sleep(0.5)
        return state

    def _progress(self, dag_id: str, run_id: str) -> list[tuple[str, int, int, str]]:
        """Return what changes while a run goes on: states and tries of its tasks."""
        keys = ("task_id", "map_index", "try_number")
        found = self.task_instances(dag_id, run_id)
        return sorted((*(one[key] for key in keys), str(one["state"])) for one in found)

    def task_instances(self, dag_id: str, run_id: str) -> list[dict[str, Any]]:
        """List the task instances of a run."""
        path = f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances?limit=1000"
        instances: list[dict[str, Any]] = self._get(path)["task_instances"]
        return instances

    def xcom(self, dag_id: str, run_id: str, task_id: str, key: str) -> Any:
        """Return what a task has pushed under a key, None when it has not."""
        path = f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task_id}/xcomEntries?xcom_key_pattern={key}"
        if not any(entry["key"] == key for entry in self._get(path)["xcom_entries"]):
            return None
        return self._get(f"{path.partition('?')[0]}/{key}")["value"]

    def clear(
        self, dag_id: str, run_id: str, task_ids: Sequence[str] | None = None, *, only_failed: bool = False
    ) -> list[dict[str, Any]]:
        """Clear tasks of a run with what follows them, so that they run again; return what was cleared."""
        body: dict[str, Any] = {"dry_run": False, "dag_run_id": run_id, "only_failed": only_failed}
        body |= {"include_downstream": True, "reset_dag_runs": True}
        if task_ids is not None:
            body["task_ids"] = list(task_ids)
        cleared: list[dict[str, Any]] = self._send("POST", f"/dags/{dag_id}/clearTaskInstances", body)["task_instances"]
        return cleared

    def answer(self, dag_id: str, run_id: str, task_id: str, option: str) -> None:
        """Choose an option where a task waits for a person."""
        path = f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task_id}/-1/hitlDetails"
        self._send("PATCH", path, {"chosen_options": [option], "params_input": {}})

    def mark_task(self, dag_id: str, run_id: str, task_id: str, state: str, map_index: int = -1) -> None:
        """Set a task instance to success or failed, as the buttons of the grid do; a running one is ended."""
        path = f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task_id}"
        self._send("PATCH", path if map_index < 0 else f"{path}/{map_index}", {"new_state": state})

    def log(self, dag_id: str, run_id: str, task_id: str, try_number: int = 1, map_index: int = -1) -> str:
        """Return the log of one try of a task as text."""
        path = f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task_id}/logs/{try_number}"
        content = self._get(f"{path}?map_index={map_index}&full_content=true")["content"]
        return content if isinstance(content, str) else "\n".join(_log_line(entry) for entry in content)

    def _get(self, path: str) -> dict[str, Any]:
        return self._send("GET", path)

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        answer = self._request(method, path, body)
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            self._token = ""
            answer = self._request(method, path, body)
        for _ in range(_REPEATS if method in _REPEATABLE else 0):
            if not answer.is_server_error:
                break
            time.sleep(1)
            answer = self._request(method, path, body)
        if not answer.is_success:
            raise SandboxError(f"Airflow answered {answer.status_code} to {method} {path}: {answer.text[:1000]}")
        result: dict[str, Any] = answer.json() if answer.content else {}
        return result

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None) -> httpx.Response:
        if not self._token:
            self._token = self._sign_in()
        headers = {"Authorization": f"Bearer {self._token}"}
        return httpx.request(method, f"{self.url}/api/v2{path}", json=body, headers=headers, timeout=180, verify=NO_TLS)

    def _sign_in(self) -> str:
        credentials = {"username": self.username, "password": self.password}
        answer = httpx.post(f"{self.url}/auth/token", json=credentials, timeout=180, verify=NO_TLS)
        if not answer.is_success:
            found = f"{answer.status_code} {answer.text[:300]}"
            raise SandboxError(f"Airflow at {self.url} refused {self.username}: {found}")
        return str(answer.json()["access_token"])


def _is_well(component: str, health: Mapping[str, str] | None, since: float) -> bool:
    if not health or health["status"] != "healthy":
        return False
    heartbeat = health.get(f"latest_{component}_heartbeat")
    return heartbeat is None or datetime.fromisoformat(heartbeat).timestamp() >= since


def _log_line(entry: str | Mapping[str, Any]) -> str:
    if isinstance(entry, str):
        return entry
    line = " ".join(str(entry[key]) for key in ("timestamp", "level", "event") if entry.get(key))
    errors = [f"{error.get('exc_type')}: {error.get('exc_value')}" for error in entry.get("error_detail") or []]
    return "\n".join([line, *errors])
