"""Gather what the section *Announcements* shows: whether what happens on clusters is told to their brokers."""

from dataclasses import dataclass

from twinhive.journal.reading import JournalReader
from twinhive.journal.records import RecordedPublisher
from twinhive.page.judging import Level, is_stale


@dataclass(frozen=True)
class PublisherRow:
    """One cluster's publisher, and how bad it is."""

    publisher: RecordedPublisher
    level: Level
    stale: bool


def announcements(reader: JournalReader, now: float) -> tuple[PublisherRow, ...]:
    """Read how the monitor has found the publishers; empty where no cluster has a broker."""
    return tuple(_row(one, now) for one in reader.publishers())


def _row(one: RecordedPublisher, now: float) -> PublisherRow:
    level = Level.BAD if one.is_silent else Level.WARN if one.gap or one.broker_trouble else Level.GOOD
    return PublisherRow(one, level, is_stale(one.at, now))
