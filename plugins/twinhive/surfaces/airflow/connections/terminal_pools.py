"""Look in a terminal whether the pools that a policy names are there: Airflow only logs that one is not."""

from airflow.models.pool import Pool

from twinhive.core.model.errors import InvalidSettings, TwinhiveError, Unreachable
from twinhive.core.model.next_steps import command
from twinhive.runtime.settings import PolicySettings
from twinhive.surfaces.airflow.dags.task_resources import named_pools


def missing_pools(name: str, policy: PolicySettings) -> list[TwinhiveError]:
    """Return an error for each pool of a policy that Airflow's database does not have."""
    named = named_pools(policy)
    if not named:
        return []
    try:
        known = {pool.pool for pool in Pool.get_pools()}
    except Exception as error:  # of whatever database and driver
        return [_unknown(name, error)]
    return [_missing(name, pool, keys) for pool, keys in named.items() if pool not in known]


def _missing(name: str, pool: str, keys: list[str]) -> InvalidSettings:
    return InvalidSettings(
        f"policy {name} names a pool that Airflow does not have: {pool}",
        found=f"{', '.join(keys)}: {pool}",
        expected="a pool of that name: without it these tasks stay scheduled for ever, and only Airflow's log says why",
        next_step=command("airflow", "pools", "set", pool, "8", "twinhive") + " (8: as many tasks at once)",
    )


def _unknown(name: str, error: Exception) -> Unreachable:
    return Unreachable(
        f"whether the pools of policy {name} exist is not known: Airflow's database does not answer",
        found=str(error).partition("\n")[0],
        expected="an answer of Airflow's database",
        next_step="run this where `airflow pools list` shows them, with Airflow's own environment",
    )
