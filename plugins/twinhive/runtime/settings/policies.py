"""What a policy file says: which database goes where, and how (seed 002, 'Replication policy')."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from twinhive.core.model.external.modes import External
from twinhive.core.model.files import short_hash
from twinhive.runtime.settings.airflow_tasks import AirflowSettings
from twinhive.runtime.settings.failover_settings import FailoverSettings
from twinhive.runtime.settings.options import OptionsSettings
from twinhive.runtime.settings.value_kinds import AbsolutePath, DatabaseName, Letters, Pattern, PolicyName, Strict, Unit
from twinhive.runtime.settings.watch_settings import Limit, NotificationSettings, WatchSettings


class AddressSettings(Strict):
    """A database on a cluster."""

    cluster: str
    """a name of `clusters.yaml`"""
    database: DatabaseName
    """the database. The replica's is not the source itself, and no other policy's replica"""


class TablesSettings(Strict):
    """Which tables and views."""

    include: Annotated[tuple[Pattern, ...], Field(min_length=1)] = (".*",)
    """a table or view is selected if one of them matches its **whole** name, in any case"""
    exclude: tuple[Pattern, ...] = ()
    """and none of these does"""

    def selects(self, table: str) -> bool:
        """True for the name of a table that is selected."""

        def named(patterns: Iterable[str]) -> bool:
            return any(re.fullmatch(pattern, table, re.IGNORECASE) for pattern in patterns)

        return named(self.include) and not named(self.exclude)


_SAFE = External()


class ExternalSettings(Strict):
    """How external tables are replicated, and where their data goes (seed 001)."""

    include: bool = _SAFE.included
    """false: external tables are left out and listed. Set to true later, the next window that reaches the newest event
    brings them all over"""
    # What it has to be is checked by a gate, which can ask the replica.
    base_directory: str | None = _SAFE.base_directory
    """a full URI: on the replica's file system, outside its warehouse, used by no other policy. Mandatory as soon as
    the policy has an external table whose data is copied. Its place is this + the full source path. It cannot change
    while the replica follows (Hive's `hive.repl.replica.external.table.base.dir`)"""
    return_from: str | None = _SAFE.returns_from
    """in the place of `base_directory`, where this policy fails back: the `base_directory` of the policy of the
    opposite direction. What lies below it returns to the path that it came from, all else keeps its path"""
    data: Literal["copy", "metadata_only"] = _SAFE.data
    """`metadata_only`: tables get their new locations, somebody else brings the data; nothing is pending"""
    stay: tuple[Pattern, ...] = _SAFE.stay
    """for whole locations: data in a third place that both clusters read. The location is kept, nothing is copied"""
    missing: Literal["fail", "empty"] = _SAFE.missing
    """a directory that the source does not have, or that has been emptied, is an error of its copy; with `empty` the
    replica's is emptied too"""
    delete: Literal["trash", "permanently", "no"] = _SAFE.delete
    """what becomes of files that the source does not have any more. The trash is `.twinhive/trash` in the copied
    directory"""
    trash_days: Annotated[float, Field(ge=0), Unit("days")] = _SAFE.trash_days
    """how long they stay there"""
    preserve: Letters = _SAFE.preserve
    """what is set besides the content, with DistCp's `-p`: r(eplication), b(lock size), u(ser), g(roup), p(ermission),
    c(hecksum type), a(cl), x(attributes), t(imes). User and group take a superuser"""
    snapshots: bool = _SAFE.snapshots
    """read from a snapshot of the source, and only the difference, where both directories may have snapshots. HDFS then
    refuses to delete such a directory as a whole, at the source also by a drop with purge, until its snapshots are
    deleted"""
    unfinished: Literal["leave_out", "copy"] = _SAFE.unfinished
    """names that running jobs rename, or remove, when they are done: `_temporary*`, `.hive-staging*`,
    `.spark-staging*`, `_twinhive*`, `.distcp.tmp.*`, `*._COPYING_`. `leave_out`: for the replica they are not there;
    `copy`: everything is copied as it is found"""
    every_minutes: Annotated[int, Field(ge=1, le=59), Unit("minutes")] = 5
    """how often `<policy>.external` starts by itself"""
    pool: str | None = None
    """Airflow's pool from which the copies take their slots; without it what `airflow.external` says"""

    def external(self, source_root: str = "", replica_root: str = "") -> External:
        """Return the same without what only files need; the roots are the file systems of both sides."""
        fields = self.model_dump(exclude={"include", "every_minutes", "pool", "return_from", "base_directory"})
        base = f"{replica_root}/" if self.return_from else self.base_directory
        return External(
            included=self.include, source_root=source_root, base_directory=base, returns_from=self.return_from, **fields
        )

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if self.return_from and self.base_directory:
            raise ValueError("base_directory and return_from exclude each other: one is below, the other at the root")
        return self


_EXTERNAL_TUNING = {"missing", "delete", "trash_days", "preserve", "snapshots", "unfinished", "every_minutes", "pool"}


class PolicySettings(Strict):
    """One policy file."""

    policy: PolicyName
    """the name: DAG ids, directories, marks on both clusters. Unique, also among other installations that replicate
    from the same source. Renamed, its replica is a stranger: the marks carry the name"""
    source: AddressSettings
    """where changes are made"""
    replica: AddressSettings
    """where the twin is kept"""
    tables: TablesSettings = TablesSettings()
    """which tables and views"""
    external_tables: ExternalSettings = ExternalSettings()
    """where the data of external tables goes, what of it is copied, what stays where it is"""
    dump_root: AbsolutePath = "/twinhive/dumps"
    """dumps go to `<dump_root>/<policy>`. A path means the source; a URI may name the file system of either cluster"""
    staging_root: AbsolutePath = "/twinhive/staging"
    """staging is `<staging_root>/<policy>` on the replica, on the same file system as its warehouse"""
    options: OptionsSettings = OptionsSettings()
    """tuning"""
    hive_conf: Mapping[str, str] = {}
    """for REPL statements that are run under this policy: [keys under their Hive names](hive-keys.md). What a
    statement's `WITH` says wins over them"""
    max_lag: Limit = 3_600.0
    """`twinhive.monitor` fails when the oldest event that is not applied is older; `off`: however late, it never
    complains of that"""
    watch: WatchSettings = WatchSettings()
    """from when on the monitor complains of other things"""
    notifications: NotificationSettings = NotificationSettings()
    """who is told"""
    airflow: AirflowSettings = AirflowSettings()
    """pools, queues, executors, owner and time-outs of the tasks"""
    failover: FailoverSettings = FailoverSettings()
    """how the replica takes over"""
    announced_tables: tuple[Pattern, ...] = ()
    """for whole names of source tables: those that have an Airflow asset of their own"""
    announced_sets: tuple[Pattern, ...] = ()
    """for whole names of source tables: those of whose sets an Airflow asset tells, set by set"""

    @property
    def fingerprint(self) -> str:
        """Identify all that a dump depends on; tuning is not part of it."""
        tuning: dict[str, Any] = {
            "airflow": True,
            "failover": True,
            "options": True,
            "hive_conf": True,
            "external_tables": _EXTERNAL_TUNING
            | ({"return_from"} if self.external_tables.return_from is None else set()),
            "max_lag": True,
            "watch": True,
            "notifications": True,
            "announced_tables": True,
            "announced_sets": True,
        }
        return short_hash(json.dumps(self.model_dump(exclude=tuning), sort_keys=True))
