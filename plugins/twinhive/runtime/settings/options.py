"""The tuning of a policy: what may be changed at any time, and counts from the next task on."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from twinhive.core.model.policy import Options
from twinhive.runtime.settings.value_kinds import AbsolutePath, Strict, Unit

_SAFE = Options()


class OptionsSettings(Strict):
    """Tuning of one policy; every default is the safe one. The second paragraph of a key says when to change it."""

    batch_objects: Annotated[int, Field(ge=1, le=1_000_000)] = _SAFE.batch_objects
    """most tables and partitions in one list-and-copy batch; most files in one batch of a window

    larger for a million partitions, to have fewer tasks"""
    batch_bytes: Annotated[int, Field(ge=1), Unit("bytes")] = _SAFE.batch_bytes
    """bytes that one batch aims at

    smaller, so that a cleared copy repeats less"""
    copy_threads: Annotated[int, Field(ge=1, le=64)] = _SAFE.copy_threads
    """files copied at the same time by one Spark task, or by the task itself; default of the form's field

    lower to spare the source's DataNodes"""
    spark_tasks: Annotated[int, Field(ge=1, le=10_000)] = _SAFE.spark_tasks
    """Spark tasks of one copy job; the batch's files are dealt over them by size

    the slots that one job should fill"""
    large_spark_tasks: Annotated[int, Field(ge=1, le=10_000)] = _SAFE.large_spark_tasks
    """most Spark tasks of a batch of a first copy that is much heavier than others may be: one partition, or one
    unpartitioned table, is never cut into batches. It gets `spark_tasks` as often as it is heavier

    higher, or lower, where a single table holds much of a database"""
    parallel_copies: Annotated[int, Field(ge=1, le=500)] = _SAFE.parallel_copies
    """copy jobs of one run at the same time

    the jobs that may share the cluster"""
    bandwidth_mb: Annotated[float, Field(gt=0), Unit("megabytes a second")] | None = _SAFE.bandwidth_mb
    """all copies of a run together, no limit without it; each of the `parallel_copies` jobs gets an equal share, also
    while fewer run, and so does each of its Spark tasks

    what the line between the clusters may carry"""
    partitions_per_call: Annotated[int, Field(ge=1, le=10_000)] = _SAFE.partitions_per_call
    """most partitions in one metastore call of a load, a resync, a scan (Hive's own default is 1,000)

    smaller when calls run into `timeout_seconds`"""
    window_events: Annotated[int, Field(ge=1, le=1_000_000), Unit("events")] = _SAFE.window_events
    """most events in scope in one incremental window, or in one file of saved events

    smaller: less to repeat after a kill, less memory; larger: fewer windows when far behind"""
    window_bytes: Annotated[int, Field(ge=1), Unit("bytes")] = _SAFE.window_bytes
    """most bytes of their messages, as the log stores them

    with `window_events`"""
    window_partitions: Annotated[int, Field(ge=1), Unit("partitions")] = _SAFE.window_partitions
    """most partitions of tables that one window brings over as they are (`resync`, `repair`); a table without
    partitions counts for one, and none is divided. The others wait, frozen, for the windows after it

    smaller: less memory, about 5 kB for each partition"""
    spark_above_files: Annotated[int, Field(ge=0), Unit("files")] = _SAFE.spark_above_files
    """a window or a round with more files to copy uses Spark, one with less the task itself

    0 with `spark_above_bytes: 0`: always Spark"""
    spark_above_bytes: Annotated[int, Field(ge=0), Unit("bytes")] = _SAFE.spark_above_bytes
    """the same by bytes

    higher where Spark takes long to start"""
    rest_events: Annotated[int, Field(ge=0), Unit("events")] = _SAFE.rest_events
    """consolidation ends when at most so many events in scope are left over

    lower: a shorter first window after the load, more rounds"""
    most_rounds: Annotated[int, Field(ge=1, le=1_000)] = _SAFE.most_rounds
    """consolidation takes no more rounds than this

    higher where files vanish all the time and each round still gains"""
    consistency: Literal["every_event", "window_end"] = _SAFE.consistency
    """readers of the replica see the state after each event, or of each object only what the window leaves: later
    events cancel earlier ones, tables do not change together

    `window_end` where tables are rewritten again and again and only the last state counts. Change it while no window
    is begun"""
    on_object_error: Literal["stop", "quarantine"] = _SAFE.on_object_error
    """an event that cannot be applied, or a table that cannot be copied, stops the policy or freezes the table alone

    `quarantine` where one table must not hold up all others; then watch `twinhive status`"""
    silent_writes: Literal["follow", "report", "fail"] = _SAFE.silent_writes
    """what the scan does with writes that left no event: brings them over, names them, fails

    `report` to learn who they are; `fail` where every state must be one of the source"""
    permissions: Literal["replica", "source"] = _SAFE.permissions
    """`source`: files and directories of managed tables get owner, group, permission and ACL of the source's when they
    are placed, so that the same users may write them after a failover. It takes HDFS's superuser. What is changed at
    the source later by itself, without rows, is not followed. `replica`: all is the copying user's

    `source`, where the replica is to take over one day"""
    settle_seconds: Annotated[int, Field(ge=0), Unit("seconds")] = _SAFE.settle_seconds
    """how long the scan waits before it lists a differing directory again

    longer than the longest pause of a writer between two files"""
    second_look_seconds: Annotated[int, Field(ge=0), Unit("seconds")] = _SAFE.second_look_seconds
    """a verification calls a difference a finding when it sees it again so long after the first time

    longer than from one scan to the end of the next: what a scan brings over is no damage"""
    grace_seconds: Annotated[int, Field(ge=0), Unit("seconds")] = _SAFE.grace_seconds
    """how long replaced and dropped directories stay for queries that still read them

    longer than the longest query on the replica; shorter to save space"""
    parallelism: Annotated[int, Field(ge=2, le=1_000)] = _SAFE.parallelism
    """Airflow tasks of the policy at the same time while external tables are copied; one of them is left to the
    events (seed 001; Hive's `hive.exec.parallel.thread.number`)

    with Airflow's own parallelism"""
    approx_max_load_tasks: Annotated[int, Field(ge=2)] | None = _SAFE.approx_max_load_tasks
    """copies and events of one pass together, no limit without it ([Passes](external-tables.md#passes); seed 001;
    Hive's `hive.repl.approx.max.load.tasks`)

    where a pass must be short"""
    external_weight: Annotated[int, Field(ge=1), Unit("bytes")] = _SAFE.external_weight
    """bytes that one copy task of external tables aims at, each file counted as 1 MB more, each directory as 16 KiB;
    smaller directories share a task

    smaller for more tasks at the same time"""
    function_directories: tuple[AbsolutePath, ...] = _SAFE.function_directories
    """directories on the source from which jars and files of functions are read. Whoever may create a function there
    names its files, they are read with the rights of twinhive's user, and everybody can read them on the replica. A
    function with a file elsewhere is left out and named in the log

    the directories where jars are put; none of which files are secret"""
    function_file_bytes: Annotated[int, Field(ge=1), Unit("bytes")] = _SAFE.function_file_bytes
    """the longest file of a function; one with a longer file is left out

    where jars are larger"""
    spark_conf: Mapping[str, str] = _SAFE.spark_conf
    """configuration of the copy jobs

    see [Spark](#spark)"""

    @property
    def tuning(self) -> Options:
        """The same without what only files need."""
        return Options(**self.model_dump())
