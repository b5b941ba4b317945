"""Say when the runs of a phase start by themselves."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from airflow.sdk import AssetOrTimeSchedule, CronTriggerTimetable

from twinhive.airflow_edge.assets import pending_asset, source_asset
from twinhive.airflow_edge.lanes import EXTERNAL_LANE, brings_data
from twinhive.settings import ClusterSettings, PolicyEntry

_EVERY_MINUTES = 2
_SCAN_EVERY_MINUTES = 15


def schedule_of(entry: PolicyEntry, phase: str, clusters: Mapping[str, ClusterSettings]) -> Any:
    """Return the schedule of a phase's DAG: people and other DAGs start the bootstrap and its rounds.

    The incremental one starts when the source's log has news, and every two minutes whatever the
    watcher says; a policy that cannot be used keeps the latter, so that it is red and not silent.

    The external one starts as often as the policy says, and when tables begin to wait for their data. A policy that
    never copies any has no schedule for it: with hundreds of policies, tasks that find nothing to do would be many.
    """
    if phase == "scan":
        return _every(entry, _SCAN_EVERY_MINUTES)
    if phase == EXTERNAL_LANE:
        return _external(entry)
    if phase != "incremental":
        return None
    floor = _every(entry, _EVERY_MINUTES)
    if entry.settings is None or entry.error:
        return floor
    return AssetOrTimeSchedule(timetable=floor, assets=[source_asset(entry.settings, clusters)])


def _external(entry: PolicyEntry) -> Any:
    # One that cannot be used is red by its incremental DAG.
    if entry.settings is None or entry.error or not brings_data(entry.settings):
        return None
    often = _every(entry, entry.settings.external_tables.every_minutes)
    return AssetOrTimeSchedule(timetable=often, assets=[pending_asset(entry.settings)])


def _every(entry: PolicyEntry, minutes: int) -> CronTriggerTimetable:
    return CronTriggerTimetable(cron_of(entry.name, minutes), timezone="UTC")


def cron_of(policy: str, minutes: int) -> str:
    """Return a cron expression whose minutes depend on the policy's name, so that policies take turns."""
    offset = sha256(policy.encode()).digest()[0] % minutes
    return f"{offset}-59/{minutes} * * * *"
