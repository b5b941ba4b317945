"""On which workers the tasks of a policy run, whose they are, and how many of them at once (key `airflow`)."""

from datetime import timedelta
from enum import Enum
from typing import Any

from twinhive.core.model.errors import InvalidSettings
from twinhive.runtime.settings import PolicyEntry, PolicySettings
from twinhive.runtime.settings.airflow_tasks import TaskSettings


class TaskKind(Enum):
    """What tasks are told apart by; the value is the key below `airflow`."""

    STEPS = "default"
    EVENTS = "events"
    COPIES = "copies"
    EXTERNAL = "external"
    FORMS = "forms"


def placed(policy: PolicySettings | None, kind: TaskKind) -> dict[str, Any]:
    """Return the arguments of an operator; a policy that cannot be read leaves all to Airflow."""
    if policy is None:
        return {}
    default = policy.airflow.default
    own: TaskSettings = getattr(policy.airflow, kind.value)
    said = {name: getattr(own, name) for name in TaskSettings.model_fields}
    chosen = {name: value if value is not None else getattr(default, name) for name, value in said.items()}
    minutes = chosen.pop("timeout_minutes")
    arguments = {name: value for name, value in chosen.items() if value is not None}
    if minutes is not None:
        arguments["execution_timeout"] = timedelta(minutes=minutes)
    if kind is TaskKind.EXTERNAL and policy.external_tables.pool:
        arguments["pool"] = policy.external_tables.pool
    return {**arguments, "owner": policy.airflow.owner}


def most_active_tasks(policy: PolicySettings | None) -> dict[str, Any]:
    """Return the argument of a DAG that lets a run have as many tasks as its copies may be."""
    if policy is None:
        return {}
    from airflow.sdk.configuration import conf

    asked = policy.options.parallel_copies + policy.options.parallelism
    usual = conf.getint("core", "max_active_tasks_per_dag", fallback=16)
    return {"max_active_tasks": policy.airflow.max_active_tasks or max(usual, asked)}


def named_pools(policy: PolicySettings) -> dict[str, list[str]]:
    """Return the pools that a policy names, each with the keys that name it."""
    said = {f"airflow.{kind.value}.pool": getattr(policy.airflow, kind.value).pool for kind in TaskKind}
    said["external_tables.pool"] = policy.external_tables.pool
    named: dict[str, list[str]] = {}
    for key, pool in said.items():
        if pool is not None:
            named.setdefault(pool, []).append(key)
    return named


def refuse_unknown_executors(entry: PolicyEntry) -> None:
    """Raise InvalidSettings for an executor that this Airflow does not have: it would take the DAGs away, silently."""
    policy = entry.settings
    if policy is None:
        return
    named = {kind.value: getattr(policy.airflow, kind.value).executor for kind in TaskKind}
    wanted = {key: name for key, name in named.items() if name is not None}
    if not wanted:
        return
    from airflow.executors.executor_loader import ExecutorLoader

    known: set[str] = set()
    for one in ExecutorLoader.get_executor_names(validate_teams=False):
        known |= {part for part in (one.alias, one.module_path, one.module_path.rpartition(".")[2]) if part}
    for key, name in wanted.items():
        if name not in known:
            raise InvalidSettings(
                f"{entry.path.name} cannot be used: airflow.{key}.executor is none that Airflow has",
                found=name,
                expected="one of " + ", ".join(sorted(known)),
                next_step="correct the key, or add the executor to [core] executor of every component of Airflow",
            )
