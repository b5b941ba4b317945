"""What a placement file says: copies of which tables are kept on which other cluster of their metastore (seed 000)."""

import json
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from twinhive.core.model.files import short_hash
from twinhive.core.model.policy import Options
from twinhive.runtime.settings.airflow_tasks import AirflowSettings
from twinhive.runtime.settings.options import OptionsSettings
from twinhive.runtime.settings.policies import AddressSettings, PolicySettings, TablesSettings
from twinhive.runtime.settings.value_kinds import AbsolutePath, DatabaseName, Pattern, PolicyName, Strict, Unit
from twinhive.runtime.settings.watch_settings import CopyWatchSettings, NotificationSettings, WatchSettings

_SAFE = Options()


class PartitionsSettings(Strict):
    """Which partitions of the tables."""

    include: Annotated[tuple[Pattern, ...], Field(min_length=1)] = (".*",)
    """a partition is selected if one of them matches its **whole** name, `day=2026-01-01/hour=7`"""
    newest: Annotated[int, Field(ge=1)] | None = None
    """of the selected ones only so many, the last by their values; numbers count as numbers. Without it all"""


class PlacementOptions(Strict):
    """Tuning of one placement: keys as those of a policy's `options`."""

    batch_objects: Annotated[int, Field(ge=1, le=1_000_000)] = _SAFE.batch_objects
    """most tables and partitions in one batch"""
    batch_bytes: Annotated[int, Field(ge=1), Unit("bytes")] = _SAFE.batch_bytes
    """bytes that one batch aims at"""
    copy_threads: Annotated[int, Field(ge=1, le=64)] = _SAFE.copy_threads
    """files copied at the same time by one Spark task, or by the task itself"""
    spark_tasks: Annotated[int, Field(ge=1, le=10_000)] = _SAFE.spark_tasks
    """Spark tasks of one copy job"""
    large_spark_tasks: Annotated[int, Field(ge=1, le=10_000)] = _SAFE.large_spark_tasks
    """most Spark tasks of a batch that is heavier than others may be"""
    parallel_copies: Annotated[int, Field(ge=1, le=500)] = _SAFE.parallel_copies
    """copy jobs of one run at the same time"""
    bandwidth_mb: Annotated[float, Field(gt=0), Unit("megabytes a second")] | None = _SAFE.bandwidth_mb
    """all copies of a run together, no limit without it"""
    partitions_per_call: Annotated[int, Field(ge=1, le=10_000)] = _SAFE.partitions_per_call
    """most partitions in one metastore call"""
    spark_above_files: Annotated[int, Field(ge=0), Unit("files")] = _SAFE.spark_above_files
    """a run with more files to copy uses Spark, one with less the task itself"""
    spark_above_bytes: Annotated[int, Field(ge=0), Unit("bytes")] = _SAFE.spark_above_bytes
    """the same by bytes"""
    grace_seconds: Annotated[int, Field(ge=0), Unit("seconds")] = _SAFE.grace_seconds
    """how long directories of replaced and dropped copies stay for queries that still read them"""
    spark_conf: Mapping[str, str] = _SAFE.spark_conf
    """configuration of the copy jobs"""


class PlacementSettings(Strict):
    """One placement file."""

    placement: PolicyName
    """the name: DAG id, directories. Unique among placements and policies"""
    database: DatabaseName
    """the database whose tables are copied"""
    tables: TablesSettings = TablesSettings()
    """which tables. Views have no files; transactional tables, and those of storage handlers, are left out"""
    cluster: str
    """where the copies are kept: a name of `clusters.yaml`, which shares its metastore with others"""
    primary: str | None = None
    """the cluster whose tables are copied; those of other clusters are left out. Without it, the default cluster"""
    partitions: PartitionsSettings = PartitionsSettings()
    """which partitions"""
    root: AbsolutePath = "/twinhive/copies"
    """copies go to `<root>/<placement>`, on the file system of `cluster`: apart from warehouses and tables"""
    staging_root: AbsolutePath = "/twinhive/staging"
    """staging is `<staging_root>/<placement>`, on the same file system"""
    options: PlacementOptions = PlacementOptions()
    """tuning"""
    watch: CopyWatchSettings = CopyWatchSettings()
    """from when on the monitor complains"""
    notifications: NotificationSettings = NotificationSettings()
    """who is told"""
    airflow: AirflowSettings = AirflowSettings()
    """pools, queues, executors, owner and time-outs of the tasks"""

    @property
    def fingerprint(self) -> str:
        """Identify what decides on what is copied; tuning is no part of it, nor is who is told."""
        tuning = {"options", "watch", "notifications", "airflow"}
        return short_hash(json.dumps(self.model_dump(exclude=tuning), sort_keys=True))

    def as_policy(self, primary: str) -> PolicySettings:
        """Return the same for what knows policies: from one cluster of a metastore to another, the same database."""
        return PolicySettings(
            policy=self.placement,
            source=AddressSettings(cluster=primary, database=self.database),
            replica=AddressSettings(cluster=self.cluster, database=self.database),
            tables=self.tables,
            staging_root=self.staging_root,
            options=OptionsSettings(**self.options.model_dump()),
            watch=WatchSettings(**self.watch.model_dump()),
            notifications=self.notifications,
            airflow=self.airflow,
        )
