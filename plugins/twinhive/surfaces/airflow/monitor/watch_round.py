"""Judge one look of the monitor at all policies, and tell people what is new and what is over."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airflow.sdk.configuration import conf

from twinhive.core.model.errors import ActNow, InvalidSettings, Unreachable
from twinhive.core.model.remotes.definitions import REMOTES_FILE
from twinhive.core.model.watching.alerts import AlertKind
from twinhive.federation.gateway.status.gateway_findings import GatewaysSeen
from twinhive.federation.gateway.status.status_client import look_at
from twinhive.operations.alerting.alert_message import Message
from twinhive.operations.journal.address import is_shared, journal_address
from twinhive.operations.journal.open_records import Open
from twinhive.operations.journal.records import OpenFailures, SentMessage
from twinhive.operations.journal.writing import open_journal
from twinhive.operations.monitoring.alert_memory import FORGET_SECONDS, Judged, Over, Standing, is_hidden, kind_of
from twinhive.operations.monitoring.gateway_alerts import REMOTES, gateway_alerts
from twinhive.operations.monitoring.lag import PolicyLag
from twinhive.operations.monitoring.lag_alerts import ALL, Alert, alerts_of, state_line
from twinhive.operations.monitoring.publisher_alerts import cluster_of, messages_of, publisher_alerts, standing_line
from twinhive.operations.monitoring.publishers import PublisherSeen
from twinhive.runtime.settings import Configuration
from twinhive.runtime.settings.remotes import load_remotes, told_of_remotes
from twinhive.runtime.settings.watch_settings import NotificationSettings
from twinhive.surfaces.airflow.monitor.alert_delivery import Teller
from twinhive.surfaces.airflow.monitor.open_failures import failing_of, topics_open

_JOURNAL_GRACE = 600.0
_UNTOLD_GRACE = 300.0


@dataclass(frozen=True)
class WatchedRemotes:
    """What gateways have said, or why they could not be asked; and who is told."""

    seen: GatewaysSeen | InvalidSettings = field(default_factory=GatewaysSeen)
    notifications: NotificationSettings = field(default_factory=NotificationSettings)

    @classmethod
    def now(cls, directory: Path) -> "WatchedRemotes":
        """Ask the gateways that `remotes.yaml` of a configuration directory names; without any, nobody is asked."""
        path = directory / REMOTES_FILE
        try:
            file = load_remotes(path)
        except InvalidSettings as error:
            return cls(error, told_of_remotes(path))
        return cls(look_at(file.gateways) if file.gateways else GatewaysSeen(), file.notifications)


@dataclass(frozen=True)
class WatchRound:
    """One look: what was found, and what the journal holds; None: it does not answer."""

    configuration: Configuration
    found: Sequence[PolicyLag]
    opened: Open | None
    at: float
    remotes: "WatchedRemotes"
    publishers: Sequence[PublisherSeen] = ()
    placements: Sequence[PolicyLag] = ()
    """They have no lag: their copies are fresh, or nobody reads them."""

    @property
    def failures(self) -> Sequence[OpenFailures]:
        """The failures that are open, as far as is known."""
        return self.opened.failures if self.opened else ()

    @property
    def unseen(self) -> frozenset[str]:
        """Return of whom, or of which kind, nobody knows now: a server does not answer, or a file cannot be used."""
        policies = {lag.policy for lag in (*self.found, *self.placements) if lag.error is not None}
        kinds = {kind_of(lag.policy, kind) for lag in self.found for kind in lag.watched.unknown}
        clusters = {messages_of(one.cluster) for one in self.publishers if one.trouble is not None}
        return frozenset(policies | kinds | clusters)

    def alerts(self) -> list[Alert]:
        """Return all that is wrong."""
        known = alerts_of(self.found, failing_of(self.failures))
        unknown = [] if self.opened else [Alert(ALL, AlertKind.UNKNOWN, _no_journal(), grace=_JOURNAL_GRACE)]
        unshared = [Alert(ALL, AlertKind.UNSHARED, error)] if (error := not_shared(journal_address())) else []
        of_remotes = gateway_alerts(self.remotes.seen, self.at)
        of_messages = publisher_alerts(self.publishers)
        return [*known, *self._of_placements(), *of_remotes, *of_messages, *unknown, *unshared, *self._untold()]

    def _of_placements(self) -> list[Alert]:
        """Return what has failed of placements, and those of their copies that stand still."""
        return alerts_of(self.placements, failing_of(self.failures)) if self.placements else []

    def reminders(self) -> Mapping[str, float]:
        """Return after how many seconds each policy is reminded of what lasts."""
        named = (*self.configuration.policies, *self.configuration.placements)
        of_policies = {name: self.configuration.notifications(name).remind_after for name in named}
        of_clusters = {
            messages_of(name): settings.messages.notifications.remind_after
            for name, settings in self.configuration.clusters.items()
        }
        return {**of_policies, **of_clusters, REMOTES: self.remotes.notifications.remind_after}

    def tell(self, judged: Judged, context: Mapping[str, Any], warn: Callable[[str], None]) -> None:
        """Tell people through the channels of the policies. Raises nothing."""
        teller = Teller(open_journal(), self.opened.messages if self.opened else None, context, warn)
        for one in judged.standing:
            self._tell(teller, one)
        for over in (*judged.over, *self._forgotten(judged)):
            self._tell_end(teller, over)
        teller.send()

    def _tell(self, teller: Teller, one: Standing) -> None:
        to, alert = self._told(one.alert.policy), one.alert
        message = Message.of(alert.policy, alert.kind, alert.about, one.since, to.owner, alert.error)
        teller.tell(message, to, is_news=one.is_news)

    def _tell_end(self, teller: Teller, over: Over) -> None:
        lag = next((lag for lag in self.found if lag.policy == over.policy), None)
        to = self._told(over.policy)
        now = state_line(lag) if lag else self._gone(over)
        message = Message(over.policy, over.kind, over.about, over.since, to.owner, f"now: {now}", is_over=True)
        teller.tell_end(message, to)

    def _gone(self, over: Over) -> str:
        if over.policy == REMOTES:
            return f"{over.about or REMOTES_FILE} is well"
        for one in self.publishers:
            if messages_of(one.cluster) == over.policy:
                return f"messages of cluster {one.cluster}: {standing_line(one)}"
        if over.policy in self.configuration.placements:
            return self._placement(over.policy)
        return f"{over.policy}: there is no such policy any more"

    def _placement(self, name: str) -> str:
        wrong = [alert.error.words.what for alert in self._of_placements() if alert.policy == name]
        return f"placement {name}: {'; '.join(wrong) or 'nothing is wrong with it'}"

    def _told(self, policy: str) -> NotificationSettings:
        if policy == REMOTES:
            return self.remotes.notifications
        cluster = self.configuration.clusters.get(cluster_of(policy) or "")
        if cluster is not None:
            return cluster.messages.notifications
        return self.configuration.notifications(policy)

    def _untold(self) -> Iterator[Alert]:
        """Yield the channels through which the last messages could not be sent."""
        newest: dict[tuple[str, str], SentMessage] = {}
        for told in self.opened.messages if self.opened else ():
            way = told.policy, told.channel
            # One that is not tried again, because something greater hides it, says nothing of a way that works since.
            if way not in newest or told.tried > newest[way].tried:
                newest[way] = told
        for told in newest.values():
            channels = {channel.name for channel in self._told(told.policy).send}
            if told.trouble and told.channel in channels:
                yield Alert(told.policy, AlertKind.UNTOLD, _not_sent(told), told.channel, _UNTOLD_GRACE)

    def _forgotten(self, judged: Judged) -> Iterator[Over]:
        """Yield what is over before the monitor has seen it, told by others, and what could not be told to be over."""
        over = {_key(one.policy, f"{one.kind} {one.about}".rstrip()) for one in judged.over}
        known = {*judged.memory, *over, *self._still_open()}
        alerts, ended = self.alerts(), dict[str, SentMessage]()
        for told in self.opened.messages if self.opened else ():
            key = _key(told.policy, told.topic)
            if key not in known and not self._is_fresh(told) and not is_hidden(key, alerts, self.unseen):
                ended.setdefault(key, told)
        for told in ended.values():
            kind, _, about = told.topic.partition(" ")
            if kind in set(AlertKind):
                yield Over(told.policy, AlertKind(kind), about, told.told or told.tried)

    def _is_fresh(self, told: SentMessage) -> bool:
        """Tell whether it may come back before that is news; what was told and could not be ended has had its time."""
        is_end = told.told is not None and told.trouble is not None
        return not is_end and self.at - told.tried <= FORGET_SECONDS

    def _still_open(self) -> frozenset[str]:
        """Return the failures that are open, but those of what is gone: nothing makes up for them any more."""
        there = {*self.configuration.policies, *self.configuration.placements}
        return topics_open(one for one in self.failures if one.newest.policy in there)


def _key(policy: str, topic: str) -> str:
    return f"{policy} {topic}"


def _no_journal() -> Unreachable:
    return Unreachable(
        "what has failed is not known: the journal cannot be read",
        found="no answer from its database",
        expected="the journal that all of Airflow's parts write",
        next_step="see that its database runs, and that TWINHIVE_JOURNAL names it on the workers; replication goes on",
    )


def not_shared(address: str) -> ActNow | None:
    """Say what is wrong with a journal that is a file, where executors run tasks on several machines."""
    elsewhere = [one for one in conf.get("core", "executor").split(",") if not _runs_here(one)]
    if is_shared(address) or not elsewhere:
        return None
    return ActNow(
        "the journal is a file, which each worker has for itself",
        found=f"{address}, with {', '.join(elsewhere)}",
        expected="a PostgreSQL database that all of Airflow's parts reach, or LocalExecutor alone",
        next_step="set TWINHIVE_JOURNAL for all of them, as docs/configuration.md says; replication goes on",
    )


def _runs_here(executor: str) -> bool:
    return executor.rpartition(":")[2].rpartition(".")[2].strip() == "LocalExecutor"


def _not_sent(told: SentMessage) -> ActNow:
    tried = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(told.tried))
    return ActNow(
        f"nobody is told of policy {told.policy} through {told.channel}",
        found=f"{told.trouble} (tried {tried})",
        expected="a message that is taken",
        next_step="correct the connection in Airflow, or notifications.send in the policy file; each run of "
        "twinhive.monitor tries again",
    )
