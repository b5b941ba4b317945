"""Announce sets of partitions that are done: an asset of each table, with one event for each set.

The event's partition key is the set, so that a DAG on Airflow's `PartitionedAssetTimetable` has one run for each set.
"""

from collections.abc import Iterable
from typing import Any

from airflow.sdk import Asset

from twinhive.core.model.names import TableName
from twinhive.surfaces.airflow.dags import announced_assets


def set_asset(cluster: str, table: TableName) -> Asset:
    """Return the asset of a table's sets on a cluster."""
    return announced_assets.sets(cluster, table.database, table.table)


def announce_sets(context: Any, cluster: str, table: TableName, sets: Iterable[str], **extra: Any) -> None:
    """Say that sets of a table are done. Airflow keeps it when the task has succeeded."""
    if not (specs := sorted(sets)):
        return
    asset, task = set_asset(cluster, table), context["task"]
    # Had the DAG named it, each task that has no set to tell of would leave an event without a key; and which tables
    # have sets is known only now.
    if asset not in task.outlets:
        task.outlets = [*task.outlets, asset]
    said = context["outlet_events"][asset]
    said.extra = extra
    said.add_partitions(specs)
