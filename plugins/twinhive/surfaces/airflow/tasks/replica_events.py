"""Announce what a stage has brought to readers of the replica: to those who wait for the database, or for one table."""

from collections import defaultdict
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from twinhive.core.model.errors import ActNow
from twinhive.core.model.names import TableName
from twinhive.core.model.policy import is_named
from twinhive.core.model.sets.set_mark import SetMark
from twinhive.core.ports import ReadPorts
from twinhive.operations.monitoring.table_updates import news_of, replicated_tables, shortcomings_of, tables_of_window
from twinhive.publishing.sets.listed_sets import shown_sets
from twinhive.replication.bootstrap.load import Loaded
from twinhive.replication.incremental.apply_stage import WindowApplied
from twinhive.replication.incremental.window_stage import WindowCut
from twinhive.replication.replica.pending_files import pending_names
from twinhive.replication.replica.sets_run import run_of_sets
from twinhive.replication.verify.verification_outcome import Verified
from twinhive.runtime.pipeline.phases import Effect
from twinhive.runtime.wiring.policy_wiring import Wiring
from twinhive.surfaces.airflow.dags.policy_assets import announce, announce_pending, announce_table, announce_verified
from twinhive.surfaces.airflow.dags.set_assets import announce_sets


@dataclass(frozen=True)
class Announcing:
    """A stage that may bring something, and the tables that waited for their data before it began."""

    wiring: Wiring
    ports: ReadPorts
    waiting: frozenset[str]
    verifies: bool

    @classmethod
    def before(cls, effects: Collection[Effect], wiring: Wiring, ports: ReadPorts) -> "Announcing":
        """Look what waits now. A policy that announces no external tables is not looked at."""
        policy = wiring.policy
        publishes = Effect.PUBLISHES in effects or Effect.PUBLISHES_WAITING in effects
        looks = publishes and wiring.settings.announced_tables
        names = pending_names(ports.replica_files, policy) if looks and policy.external.brings_data else ()
        return cls(wiring, ports, frozenset(names), Effect.VERIFIES in effects)

    def after(self, result: Any, context: Any) -> None:
        """Say what the stage has brought. A window that holds nothing may have published tables that had waited."""
        outlet_events = context["outlet_events"]
        if isinstance(result, WindowCut | WindowApplied) and self.wiring.settings.announced_sets:
            self._of_sets(context, result.end if isinstance(result, WindowCut) else result.event_id)
        if isinstance(result, Loaded | WindowApplied):
            self._of_database(result, outlet_events)
        elif isinstance(result, WindowCut) and result.idle and self.waiting:
            self._of_tables(self._came(), result.end, outlet_events)
        elif isinstance(result, Verified) and self.verifies and result.is_clean:
            announce_verified(outlet_events, self.wiring.settings, result.event, result.unjudged)

    def _of_database(self, result: Loaded | WindowApplied, outlet_events: Any) -> None:
        ports, settings = self.ports, self.wiring.settings
        found = shortcomings_of(ports, self.wiring.policy)
        newest = ports.source.current_event_id()
        announce(outlet_events, settings, result.event_id, newest, found.pending, found.quarantined)
        announce_pending(outlet_events, settings, result.pending)
        if settings.announced_tables:
            self._of_tables(self._touched(result), result.event_id, outlet_events)

    def _of_sets(self, context: Any, event_id: int) -> None:
        """Say which sets this run has shown, whichever of its tries it was: the replica's marks name the run."""
        settings, replica = self.wiring.settings, self.wiring.policy.replica
        if run_of_sets(self.ports.replica_files, self.wiring.policy) != str(context["run_id"]):
            return
        shown: dict[TableName, list[str]] = defaultdict(list)
        marks: list[SetMark] = []
        # A foreign table of that name is said where sets are shown, and stops no replica.
        with suppress(ActNow):
            marks = shown_sets(self.ports.replica, replica.database)
        for mark in marks:
            if mark.shown_by == str(context["run_id"]) and is_named(mark.table.table, settings.announced_sets):
                shown[mark.table].append(mark.spec)
        for table, specs in shown.items():
            announce_sets(context, replica.cluster, table, specs, event_id=event_id)

    def _touched(self, result: Loaded | WindowApplied) -> frozenset[str]:
        policy = self.wiring.policy
        if isinstance(result, Loaded):
            return replicated_tables(self.ports, policy)
        return tables_of_window(self.ports, policy, result.event_id) | self._came()

    def _came(self) -> frozenset[str]:
        """Return the tables whose data has come since the stage began."""
        return self.waiting.difference(pending_names(self.ports.replica_files, self.wiring.policy))

    def _of_tables(self, tables: frozenset[str], event_id: int, outlet_events: Any) -> None:
        settings, policy = self.wiring.settings, self.wiring.policy
        wanted = [table for table in tables if is_named(table, settings.announced_tables)]
        if not wanted:
            return
        for news in news_of(self.ports, policy, wanted, shortcomings_of(self.ports, policy)):
            announce_table(outlet_events, settings, news.table, event_id, news.quarantined, incomplete=news.incomplete)
