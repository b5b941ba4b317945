"""Say when the runs of a phase start by themselves."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from airflow.sdk import AssetOrTimeSchedule, CronTriggerTimetable

from twinhive.airflow_edge.assets import source_asset
from twinhive.settings import ClusterSettings, PolicyEntry

_EVERY_MINUTES = 2
_SCAN_EVERY_MINUTES = 15


def schedule_of(entry: PolicyEntry, phase: str, clusters: Mapping[str, ClusterSettings]) -> Any:
    """Return the schedule of a phase's DAG: people and other DAGs start the bootstrap and its rounds.

    The incremental one starts when the source's log has news, and every two minutes whatever the
    watcher says; a policy that cannot be used keeps the latter, so that it is red and not silent.
    """
    if phase == "scan":
        return CronTriggerTimetable(cron_of(entry.name, _SCAN_EVERY_MINUTES), timezone="UTC")
    if phase != "incremental":
        return None
    floor = CronTriggerTimetable(cron_of(entry.name, _EVERY_MINUTES), timezone="UTC")
    if entry.settings is None or entry.error:
        return floor
    return AssetOrTimeSchedule(timetable=floor, assets=[source_asset(entry.settings, clusters)])


def cron_of(policy: str, minutes: int) -> str:
    """Return a cron expression whose minutes depend on the policy's name, so that policies take turns."""
    offset = sha256(policy.encode()).digest()[0] % minutes
    return f"{offset}-59/{minutes} * * * *"
