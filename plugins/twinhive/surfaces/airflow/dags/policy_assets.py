"""Name the assets of a policy: what starts its runs, and its replica, which others may wait for.

Those that start runs are hints: every run finds out for itself what there is to do, so a lost one costs an interval
of the schedule. While a run is under way, all hints to its DAG together start one more.
"""

from collections.abc import Collection, Mapping
from typing import Any

from airflow.sdk import Asset, AssetAlias, AssetWatcher

from twinhive.runtime.pipeline.phases import Effect
from twinhive.runtime.settings import ClusterSettings, PolicySettings
from twinhive.runtime.settings.clusters import metastore_owner
from twinhive.surfaces.airflow.dags import announced_assets
from twinhive.surfaces.airflow.triggers.notification_trigger import NotificationTrigger

_NAMED = 100


def source_asset(policy: PolicySettings, clusters: Mapping[str, ClusterSettings], *, greets: bool = True) -> Asset:
    """Return the asset that has news when the log of the source names the policy's database.

    It has news when the watch begins too, if it `greets`.
    """
    metastore = clusters[metastore_owner(clusters, policy.source.cluster)].metastore
    trigger = NotificationTrigger(metastore.model_dump_json(), policy.source.database, "yes" if greets else "no")
    return _news(policy, [AssetWatcher(name=f"{policy.policy}_log", trigger=trigger)])


def _news(policy: PolicySettings, watchers: list[AssetWatcher]) -> Asset:
    uri = f"twinhive-log://{policy.source.cluster}/{policy.source.database}/{policy.policy}"
    return Asset(name=f"{policy.policy}.source", uri=uri, watchers=watchers)


def replica_asset(policy: PolicySettings) -> Asset:
    """Return the asset of the replica's database; its events carry `event_id`, the replicated event id."""
    return announced_assets.database(policy.replica.cluster, policy.replica.database)


def backlog_alias(policy: PolicySettings) -> AssetAlias:
    """Return by what a task says, when it must, that the source has more for the next run."""
    return AssetAlias(name=f"{policy.policy}.backlog")


def hints_alias() -> AssetAlias:
    """Return by what the monitor says that runs of policies have something to do."""
    return AssetAlias(name="twinhive.monitor.hints")


def hint(outlet_events: Any, policy: PolicySettings, why: str) -> None:
    """Let the event lane of a policy start, whatever has become of the watcher's hint."""
    outlet_events[hints_alias()].add(_news(policy, []), extra={"why": why})


def pending_asset(policy: PolicySettings) -> Asset:
    """Return the asset that has news when external tables wait for their data."""
    uri = f"twinhive-external://{policy.source.cluster}/{policy.source.database}/{policy.policy}"
    return Asset(name=f"{policy.policy}.pending", uri=uri)


def pending_alias(policy: PolicySettings) -> AssetAlias:
    """Return by what a task says, when it must, that external tables wait for their data."""
    return AssetAlias(name=f"{policy.policy}.waiting")


def table_asset(policy: PolicySettings, table: str) -> Asset:
    """Return the asset of one table of the replica; only those that `announced_tables` selects ever have an event."""
    return announced_assets.table(policy.replica.cluster, policy.replica.database, table)


def verified_asset(policy: PolicySettings) -> Asset:
    """Return the asset that has news when a replica was verified and nothing was found; see `announce_verified`."""
    return announced_assets.verified(policy.replica.cluster, policy.replica.database, policy.policy)


def verified_alias(policy: PolicySettings) -> AssetAlias:
    """Return by what a task says that the replica was verified."""
    return AssetAlias(name=f"{policy.policy}.verification")


def tables_alias(policy: PolicySettings) -> AssetAlias:
    """Return by what a task says which tables have changed; they are known only then."""
    return AssetAlias(name=f"{policy.policy}.tables")


def outlets_of(effects: Collection[Effect], policy: PolicySettings) -> list[Asset | AssetAlias]:
    """Return what the task of a stage that may bring this about has to say."""
    tables = [tables_alias(policy)] if policy.announced_tables else []
    if Effect.PUBLISHES in effects:
        return [replica_asset(policy), backlog_alias(policy), pending_alias(policy), *tables]
    if Effect.PUBLISHES_WAITING in effects:
        return [*tables]
    if Effect.VERIFIES in effects:
        return [verified_alias(policy)]
    return [backlog_alias(policy)] if Effect.BRINGS_DATA in effects else []


def announce(
    outlet_events: Any,
    policy: PolicySettings,
    event_id: int,
    newest: int,
    pending: Collection[str] = (),
    quarantined: Collection[str] = (),
) -> None:
    """Say at which event the replica is, and start the next run at once when the source is past it.

    The asset's page shows which external tables are `pending`, and which tables are `quarantined`: the event id does
    not count for them. With any of them the event is `incomplete`.
    """
    not_whole = {"pending": sorted(pending)[:_NAMED], "quarantined": sorted(quarantined)[:_NAMED]}
    said = {kind: names for kind, names in not_whole.items() if names}
    outlet_events[replica_asset(policy)].extra = {
        "event_id": event_id,
        **said,
        **({"incomplete": True} if said else {}),
    }
    if newest > event_id:
        outlet_events[backlog_alias(policy)].add(_news(policy, []), extra={"event_id": newest})


def announce_table(
    outlet_events: Any, policy: PolicySettings, table: str, event_id: int, quarantined: str | None, *, incomplete: bool
) -> None:
    """Say that a table of the replica has changed, or is frozen (`quarantined`, with the reason)."""
    extra: dict[str, Any] = {"event_id": event_id}
    extra |= {"quarantined": quarantined} if quarantined else {}
    extra |= {"incomplete": True} if incomplete or quarantined else {}
    outlet_events[tables_alias(policy)].add(table_asset(policy, table), extra=extra)


def announce_verified(outlet_events: Any, policy: PolicySettings, event_id: int, not_judged: int) -> None:
    """Say at which event the replica was found equal to its source, but for so much of which nothing is said."""
    extra = {"event_id": event_id, **({"not_judged": not_judged} if not_judged else {})}
    outlet_events[verified_alias(policy)].add(verified_asset(policy), extra=extra)


def announce_pending(outlet_events: Any, policy: PolicySettings, tables: Collection[str]) -> None:
    """Let the data lane start at once when tables have begun to wait for it."""
    if tables:
        outlet_events[pending_alias(policy)].add(pending_asset(policy), extra={"tables": len(tables)})


def announce_data(outlet_events: Any, policy: PolicySettings, tables: Collection[str]) -> None:
    """Let the event lane start at once when data has come while tables wait for some: it knows what is theirs."""
    if tables:
        outlet_events[backlog_alias(policy)].add(_news(policy, []), extra={"waiting": len(tables)})
