"""Name the assets of a policy: what starts its runs, and its replica, which others may wait for.

Those that start runs are hints: every run finds out for itself what there is to do, so a lost one costs an interval
of the schedule. While a run is under way, all hints to its DAG together start one more.
"""

from collections.abc import Collection, Mapping
from typing import Any

from airflow.sdk import Asset, AssetAlias, AssetWatcher

from twinhive.airflow_edge.notification_trigger import NotificationTrigger
from twinhive.settings import ClusterSettings, PolicySettings
from twinhive.steps.phases import BRINGING_DATA, PUBLISHING

_NAMED = 100


def source_asset(policy: PolicySettings, clusters: Mapping[str, ClusterSettings]) -> Asset:
    """Return the asset that has news when the log of the source names the policy's database."""
    metastore = clusters[policy.source.cluster].metastore
    trigger = NotificationTrigger(metastore.model_dump_json(), policy.source.database)
    return _news(policy, [AssetWatcher(name=f"{policy.policy}_log", trigger=trigger)])


def _news(policy: PolicySettings, watchers: list[AssetWatcher]) -> Asset:
    uri = f"twinhive-log://{policy.source.cluster}/{policy.source.database}/{policy.policy}"
    return Asset(name=f"{policy.policy}.source", uri=uri, watchers=watchers)


def replica_asset(policy: PolicySettings) -> Asset:
    """Return the asset of the replica's database; its events carry `event_id`, the replicated event id."""
    return Asset(uri=f"twinhive://{policy.replica.cluster}/{policy.replica.database}")


def backlog_alias(policy: PolicySettings) -> AssetAlias:
    """Return by what a task says, when it must, that the source has more for the next run."""
    return AssetAlias(name=f"{policy.policy}.backlog")


def pending_asset(policy: PolicySettings) -> Asset:
    """Return the asset that has news when external tables wait for their data."""
    uri = f"twinhive-external://{policy.source.cluster}/{policy.source.database}/{policy.policy}"
    return Asset(name=f"{policy.policy}.pending", uri=uri)


def pending_alias(policy: PolicySettings) -> AssetAlias:
    """Return by what a task says, when it must, that external tables wait for their data."""
    return AssetAlias(name=f"{policy.policy}.waiting")


def outlets_of(stage: str, policy: PolicySettings) -> list[Asset | AssetAlias]:
    """Return what the task of a stage may have to say."""
    if stage in PUBLISHING:
        return [replica_asset(policy), backlog_alias(policy), pending_alias(policy)]
    return [backlog_alias(policy)] if stage in BRINGING_DATA else []


def announce(
    outlet_events: Any, policy: PolicySettings, event_id: int, newest: int, pending: Collection[str] = ()
) -> None:
    """Say at which event the replica is, and start the next run at once when the source is past it.

    The asset's page shows which external tables are `pending`: the event id does not count for them yet.
    """
    waiting = {"pending": sorted(pending)[:_NAMED]} if pending else {}
    outlet_events[replica_asset(policy)].extra = {"event_id": event_id, **waiting}
    if newest > event_id:
        outlet_events[backlog_alias(policy)].add(_news(policy, []), extra={"event_id": newest})


def announce_pending(outlet_events: Any, policy: PolicySettings, tables: Collection[str]) -> None:
    """Let the data lane start at once when tables have begun to wait for it."""
    if tables:
        outlet_events[pending_alias(policy)].add(pending_asset(policy), extra={"tables": len(tables)})


def announce_data(outlet_events: Any, policy: PolicySettings, tables: Collection[str]) -> None:
    """Let the event lane start at once when data has come while tables wait for some: it knows what is theirs."""
    if tables:
        outlet_events[backlog_alias(policy)].add(_news(policy, []), extra={"waiting": len(tables)})
