"""Name the assets of a policy: its source's log, which starts runs, and its replica, which others may wait for."""

from collections.abc import Mapping
from typing import Any

from airflow.sdk import Asset, AssetAlias, AssetWatcher

from twinhive.airflow_edge.notification_trigger import NotificationTrigger
from twinhive.settings import ClusterSettings, PolicySettings


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


def announce(outlet_events: Any, policy: PolicySettings, event_id: int, newest: int) -> None:
    """Say at which event the replica is, and start the next run at once when the source is past it."""
    outlet_events[replica_asset(policy)].extra = {"event_id": event_id}
    if newest > event_id:
        outlet_events[backlog_alias(policy)].add(_news(policy, []), extra={"event_id": newest})
