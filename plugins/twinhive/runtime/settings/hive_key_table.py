"""List the keys that `WITH` and a policy's `hive_conf` understand, under their Hive names, with what each means."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from twinhive.runtime.settings.hive_values import Choice, Directory, Duration, ExternalData, Flag, Option, ValueKind
from twinhive.runtime.settings.repl_settings import ReplSettings

StatementKind = Literal["dump", "load", "status"]


@dataclass(frozen=True)
class HiveKey:
    """One key.

    statements  those that use it
    field       of `ReplSettings`, below `options` or `external` with a dot
    differs     what Hive 4 does otherwise
    """

    name: str
    statements: tuple[StatementKind, ...]
    field: str
    kind: ValueKind
    meaning: str
    differs: str

    @property
    def default(self) -> Any:
        """The value when nobody says one; None: nothing."""
        value: Any = ReplSettings()
        for name in self.field.split("."):
            value = getattr(value, name)
        return value


_DUMP: tuple[StatementKind, ...] = ("dump",)
_LOAD: tuple[StatementKind, ...] = ("load",)
_BOTH: tuple[StatementKind, ...] = ("dump", "load")
_OURS = "Hive has no such key"


def _option(name: str, option: str, meaning: str, differs: str = _OURS) -> HiveKey:
    return HiveKey(name, _LOAD, f"options.{option}", Option(option), meaning, differs)


_ALL = (
    HiveKey(
        "hive.repl.rootdir",
        _BOTH,
        "root_directory",
        Directory(),
        "dumps go to `<rootdir>/<database>/<token>`, on the source's file system unless it is a URI; a REPL LOAD that "
        "names no directory looks for the newest there",
        "`<rootdir>/<database in Base64>/<UUID>`; the default is below the home of Hive's own user",
    ),
    HiveKey(
        "twinhive.dump.layout",
        _DUMP,
        "layout",
        Choice(("twinhive", "hive")),
        "`hive` writes Hive 4's dump layout, for Hive's own REPL LOAD",
        _OURS,
    ),
    HiveKey(
        "hive.repl.dump.metadata.only",
        _DUMP,
        "metadata_only",
        Flag(),
        "no file of a managed table is in the dump: the replica gets databases, tables, partitions, functions",
        "the metadata of external tables comes then, whatever `hive.repl.include.external.tables` says; here, as in "
        "seed 002 (example i), that key counts as always",
    ),
    HiveKey(
        "hive.repl.include.external.tables",
        _DUMP,
        "external.included",
        Flag(),
        "false: external tables are left out and listed",
        "the same; Hive 3 leaves them out unless it is true",
    ),
    HiveKey(
        "hive.repl.dump.metadata.only.for.external.table",
        _DUMP,
        "external.data",
        ExternalData(),
        "true: external tables get their new locations, somebody else brings the data",
        "the default is true",
    ),
    HiveKey(
        "hive.repl.bootstrap.external.tables",
        _DUMP,
        "bootstrap_external_tables",
        Flag(),
        "true in an incremental dump: all external tables come whole with it, for a replica that was made without them"
        "; not with TO or LIMIT",
        "the same, once; it takes `hive.repl.include.external.tables` with it",
    ),
    HiveKey(
        "hive.repl.replica.external.table.base.dir",
        _BOTH,
        "external.base_directory",
        Directory(),
        "an external table's place on the replica is this + its full source path; mandatory as soon as data of one is "
        "copied",
        "the same; Hive 4 takes it from the dump, seed 001 from the load. Said at both, it has to be the same",
    ),
    HiveKey(
        "hive.repl.dumpdir.ttl",
        _BOTH,
        "dump_ttl_seconds",
        Duration("days"),
        "how old has to be what no load needs any more to be removed: dumps by a REPL DUMP, staging directories by a "
        "REPL LOAD",
        "Hive 3 removes by age alone, Hive 4 has no such key: it removes all dumps before the newest",
    ),
    HiveKey(
        "hive.repl.retain.prev.dump.dir",
        _DUMP,
        "retain_previous_dumps",
        Flag(),
        "true: no dump is removed, however old",
        "true: so many are kept as `hive.repl.retain.prev.dump.dir.count` says",
    ),
    _option(
        "hive.repl.approx.max.load.tasks",
        "approx_max_load_tasks",
        "copies and events of one pass together, no limit without it",
        "10000; it counts tasks of a query plan, and events of a batch",
    ),
    _option(
        "hive.repl.parallel.copy.tasks",
        "copy_threads",
        "files copied at the same time by the load",
        "100, for one table",
    ),
    _option(
        "hive.repl.load.partitions.batch.size",
        "partitions_per_call",
        "most partitions in one metastore call",
        "10000, and a key of its own where data is copied",
    ),
    _option(
        "hive.exec.parallel.thread.number",
        "parallelism",
        "copy tasks of external tables and the events, at the same time",
        "jobs of a query plan, if `hive.exec.parallel` is true",
    ),
    HiveKey(
        "twinhive.staging.root",
        _LOAD,
        "staging_root",
        Directory(),
        "where files wait to be renamed in: on the replica, on its warehouse's file system",
        _OURS,
    ),
    HiveKey(
        "twinhive.places",
        _LOAD,
        "places",
        Choice(("own", "hive")),
        "`hive`: at the end of the load, tables and partitions are moved to their default places, where Hive's own "
        "REPL LOAD will look for them: say it once, in the load before Hive takes the replica over",
        _OURS,
    ),
    _option(
        "hive.exec.copyfile.maxnumfiles",
        "spark_above_files",
        "a batch of more files is copied by Spark, where the load has one; one of less in the load's own process",
        "1; it is for DistCp, which needs both this and the size to be above",
    ),
    _option(
        "hive.exec.copyfile.maxsize",
        "spark_above_bytes",
        "the same by bytes",
        "33554432 (32 MiB)",
    ),
    _option(
        "twinhive.spark.tasks",
        "spark_tasks",
        "Spark tasks that copy a batch at the same time; `--tasks` of `twinhive sql` wins over it",
    ),
    _option(
        "twinhive.bandwidth.mb",
        "bandwidth_mb",
        "what all copies of the load may move together, no limit without it",
        "`distcp.options.bandwidth`, for each map task",
    ),
    _option(
        "twinhive.consistency",
        "consistency",
        "readers of the replica see the state after each event, or what the dump leaves of each object",
        "every event, but data of a partition while it is copied",
    ),
    _option(
        "twinhive.on.object.error",
        "on_object_error",
        "an event that cannot be applied stops the load, or freezes its table while the rest goes on",
        "it stops the load",
    ),
)
KEYS: Mapping[str, HiveKey] = {key.name: key for key in _ALL}
