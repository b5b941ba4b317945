"""What a policy file says of its Airflow tasks: who owns them, which workers run them, how long they may take."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from twinhive.runtime.settings.value_kinds import Strict, Unit


class TaskSettings(Strict):
    """Where tasks of one kind run. What is not said is what `default` says, then Airflow's own default."""

    pool: str | None = None
    """Airflow's pool from which they take their slots. One that does not exist makes tasks wait for ever: the page
    'Replication' says so, and `twinhive --airflow check` beforehand"""
    queue: str | None = None
    """the queue of workers (Celery, and others that have queues)"""
    executor: str | None = None
    """one of those that `[core] executor` lists, by its name or alias, where Airflow has several"""
    executor_config: Mapping[str, Any] | None = None
    """for the executor, as it is; for Kubernetes `{pod_template_file: /path}`: copies hold a Spark driver, the other
    tasks a Java machine"""
    timeout_minutes: Annotated[float, Field(gt=0), Unit("minutes")] | None = None
    """Airflow ends a try that takes longer (its `execution_timeout`) and tries again. What a copy has staged is kept"""


class AirflowSettings(Strict):
    """How Airflow treats the tasks of a policy. Counts from the next time that Airflow reads the DAG file."""

    owner: str = "twinhive"
    """the owner that Airflow shows and filters by"""
    max_active_tasks: Annotated[int, Field(ge=1)] | None = None
    """tasks of one run at the same time. Without it as many as `parallel_copies` and `parallelism` ask for, at least
    Airflow's `[core] max_active_tasks_per_dag`"""
    default: TaskSettings = TaskSettings()
    """all tasks for which nothing else is said"""
    events: TaskSettings = TaskSettings()
    """tasks of `<policy>.incremental` that do not run Spark: with a pool of their own no copy keeps them waiting"""
    copies: TaskSettings = TaskSettings()
    """tasks that copy files of managed tables by Spark: the driver runs in the task"""
    external: TaskSettings = TaskSettings()
    """tasks that copy directories of external tables"""
    forms: TaskSettings = TaskSettings()
    """tasks of the forms that mend a policy or give it up"""
