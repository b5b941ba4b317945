"""When the runs of a phase start by themselves."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from airflow.sdk import AssetOrTimeSchedule, CronTriggerTimetable

from twinhive.runtime.pipeline.phase_facts import Start, facts_of
from twinhive.runtime.settings import ClusterSettings, PolicyEntry
from twinhive.surfaces.airflow.dags.lane_priorities import brings_data
from twinhive.surfaces.airflow.dags.policy_assets import pending_asset, source_asset

_EVERY_MINUTES = 2
_SCAN_EVERY_MINUTES = 15
_NIGHT_HOURS = 6
"""A night is from midnight on for so long, by UTC."""
_RUNS_A_MINUTE = 10.0
"""Runs that find nothing to do, of all policies together: on two cores they take about half of one."""
_EXTERNAL_SHARE = 0.25
"""Of these, for the lanes of external tables, where there are any."""
_RUNS_VARIABLE = "TWINHIVE_IDLE_RUNS_PER_MINUTE"
_PERIODS = (2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60, 120, 180, 240, 360, 720)
"""Minutes after which a cron expression comes round evenly."""


@dataclass(frozen=True)
class Crowd:
    """How many policies there are, and how many of them copy data of external tables: they share the idle runs."""

    policies: int = 1
    external: int = 0

    @classmethod
    def of(cls, entries: Iterable[PolicyEntry]) -> "Crowd":
        """Count the policies of a configuration."""
        known = list(entries)
        return cls(len(known), sum(one.settings is not None and brings_data(one.settings) for one in known))

    def share(self, of_events: float) -> float:
        """Return the share of a lane for all policies in what all idle runs together may be."""
        return of_events * (1 - _EXTERNAL_SHARE) if self.external else of_events


def schedule_of(entry: PolicyEntry, phase: str, clusters: Mapping[str, ClusterSettings], crowd: Crowd) -> Any:
    """Return the schedule of a phase's DAG: people and other DAGs start the bootstrap and its rounds.

    The incremental one starts when the source's log has news, and every two minutes whatever the
    watcher says; a policy that cannot be used keeps the latter, so that it is red and not silent. The more policies
    there are, the longer the floors of all are (`floor_minutes`): what keeps the lag low is the watcher, for all
    policies of a metastore one poll, and the monitor, for all policies one task a minute.

    The external one starts as often as the policy says, or more rarely where many do, and when tables begin to wait for
    their data. A policy that
    never copies any has no schedule for it: with hundreds of policies, tasks that find nothing to do would be many.
    """
    match facts_of(phase).start:
        case Start.CLOCK:
            return _every(entry, floor_minutes(_SCAN_EVERY_MINUTES, crowd.policies, share=crowd.share(0.25)))
        case Start.NIGHT:
            return CronTriggerTimetable(nightly_cron_of(entry.name), timezone="UTC")
        case Start.DATA:
            return _external(entry, crowd)
        case Start.LOG:
            return _events(entry, clusters, crowd)
        case Start.PERSON | Start.RUN:
            return started_by_people()


def _events(entry: PolicyEntry, clusters: Mapping[str, ClusterSettings], crowd: Crowd) -> Any:
    minutes = floor_minutes(_EVERY_MINUTES, crowd.policies, share=crowd.share(0.75))
    floor = _every(entry, minutes)
    if entry.settings is None or entry.error:
        return floor
    source = source_asset(entry.settings, clusters, greets=minutes == _EVERY_MINUTES)
    return AssetOrTimeSchedule(timetable=floor, assets=[source])


def started_by_people() -> Any:
    """Return what a DAG without a schedule has: a second click on its trigger starts nothing."""
    # It takes a quarter of a second of Airflow's core, which the many tasks of DAGs with a schedule do without.
    from twinhive.surfaces.airflow.dags.run_ids import StartedByPeople

    return StartedByPeople()


def _external(entry: PolicyEntry, crowd: Crowd) -> Any:
    # One that cannot be used is red by its incremental DAG.
    if entry.settings is None or entry.error or not brings_data(entry.settings):
        return started_by_people()
    minutes = floor_minutes(entry.settings.external_tables.every_minutes, crowd.external, share=_EXTERNAL_SHARE)
    return AssetOrTimeSchedule(timetable=_every(entry, minutes), assets=[pending_asset(entry.settings)])


def _every(entry: PolicyEntry, minutes: int) -> CronTriggerTimetable:
    return CronTriggerTimetable(cron_of(entry.name, minutes), timezone="UTC")


def floor_minutes(least: int, policies: int, share: float) -> int:
    """Return how many minutes lie between two runs of a policy, so that those of all are no more than can be run.

    `least` for few policies. `TWINHIVE_IDLE_RUNS_PER_MINUTE` (10) says what all idle runs together may be, of which
    this kind gets a share: 500 policies look every 120 minutes then, and with 300 a minute on many cores every 3.
    """
    needed = max(float(least), policies / (share * _runs_a_minute()))
    return next((period for period in (least, *_PERIODS) if period >= needed), _PERIODS[-1])


def _runs_a_minute() -> float:
    """Return what the environment allows; a value that is none counts as not set, because DAGs must not vanish."""
    try:
        given = float(os.environ.get(_RUNS_VARIABLE, ""))
    except ValueError:
        return _RUNS_A_MINUTE
    return given if given > 0 else _RUNS_A_MINUTE


def nightly_cron_of(policy: str) -> str:
    """Return a cron expression for once a night, at an hour and minute that depend on the policy's name."""
    at = int.from_bytes(sha256(policy.encode()).digest()[:4]) % (60 * _NIGHT_HOURS)
    return f"{at % 60} {at // 60} * * *"


def cron_of(policy: str, minutes: int) -> str:
    """Return a cron expression whose minutes (and hours) depend on the policy's name, so that policies take turns."""
    offset = int.from_bytes(sha256(policy.encode()).digest()[:4]) % minutes
    if minutes < 60:
        return f"{offset}-59/{minutes} * * * *"
    hours, minute = divmod(offset, 60)
    return f"{minute} {hours}-23/{minutes // 60} * * *"
