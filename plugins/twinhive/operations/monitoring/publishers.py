"""Find out whether what happens on clusters is told to their brokers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from twinhive.core.model.errors import TwinhiveError
from twinhive.core.ports import MetastoreReader
from twinhive.core.threads.server_queries import Question, ask_all
from twinhive.publishing.messages.event_announcements import AnnouncedDatabases
from twinhive.publishing.messages.publisher_lag import Behind, read_behind


@dataclass(frozen=True)
class Told:
    """A cluster that has a broker: its metastore and its broker, opened when they are asked.

    max_silence  for how many seconds something may wait to be told; None: for ever
    """

    cluster: str
    metastore: Callable[[], MetastoreReader]
    probe: Callable[[], None]
    databases: AnnouncedDatabases
    max_silence: float | None = 120.0


@dataclass(frozen=True)
class PublisherSeen:
    """How a cluster's publisher was found.

    behind          None: no publisher has ever run, or the metastore did not say (`trouble`)
    broker_trouble  why nothing can be sent; None: the broker answers and lets us in
    """

    cluster: str
    at: float
    behind: Behind | None = None
    trouble: TwinhiveError | None = None
    broker_trouble: TwinhiveError | None = None
    max_silence: float | None = field(default=120.0)

    @property
    def events(self) -> int | None:
        """How many events wait to be told; None where that is not known."""
        return None if self.behind is None or self.behind.lost else self.behind.events

    @property
    def behind_seconds(self) -> float | None:
        """For how long the oldest event waits that is to be told, 0 for none; None where that is not known."""
        if self.behind is None or self.behind.lost:
            return None
        return 0.0 if self.behind.since is None else max(0.0, self.at - self.behind.since)


def look_at_publishers(some: Sequence[Told], at: float, patience: float) -> list[PublisherSeen]:
    """Ask metastores and brokers, all at once. Raises nothing, and takes no longer than `patience` seconds."""
    answers = ask_all((question for one in some for question in _questions(one)), patience)
    return [_seen(one, at, answers["behind", one.cluster], answers["broker", one.cluster]) for one in some]


def _questions(one: Told) -> Iterator[Question]:
    ask = partial(_behind, one)
    yield Question(f"the metastore of cluster {one.cluster}", ("behind", one.cluster), ask)
    yield Question(f"the broker of cluster {one.cluster}", ("broker", one.cluster), one.probe)


def _behind(one: Told) -> Behind | None:
    return read_behind(one.metastore(), one.databases)


def _seen(one: Told, at: float, behind: Any, broker: Any) -> PublisherSeen:
    failed = behind if isinstance(behind, TwinhiveError) else None
    return PublisherSeen(
        one.cluster,
        at,
        None if failed else behind,
        failed,
        broker if isinstance(broker, TwinhiveError) else None,
        one.max_silence,
    )
