"""Ask MapReduce's history how a finished job went."""

from dataclasses import dataclass

import httpx

from sandbox.box import Sandbox
from sandbox.configuration import LOOPBACK
from sandbox.errors import SandboxError
from sandbox.hadoop.yarn import JOB_HISTORY
from sandbox.plain_http import NO_TLS


@dataclass(frozen=True)
class MapPhase:
    """Tell when a job's maps worked: `begun` and `ended` are seconds since the epoch, in whole milliseconds."""

    count: int
    begun: float
    ended: float

    @property
    def seconds(self) -> float:
        """Return the time from the start of the first map's process to the end of the last one's work."""
        return self.ended - self.begun


def map_phase(box: Sandbox, job: str) -> MapPhase | None:
    """Return when the maps of a finished job worked, or None when it had none."""
    port = box.servers[JOB_HISTORY].ports["http"]
    url = f"http://{LOOPBACK}:{port}/ws/v1/history/mapreduce/jobs/{job}/tasks"
    try:
        answer = httpx.get(url, params={"type": "m"}, timeout=30, verify=NO_TLS).raise_for_status().json()
    except (httpx.HTTPError, ValueError) as error:
        raise SandboxError(f"the history does not know {job}: {error}; is {JOB_HISTORY} running?") from error
    tasks = (answer["tasks"] or {}).get("task", [])
    if not tasks:
        return None
    begun, ended = min(task["startTime"] for task in tasks), max(task["finishTime"] for task in tasks)
    return MapPhase(len(tasks), begun / 1000, ended / 1000)
