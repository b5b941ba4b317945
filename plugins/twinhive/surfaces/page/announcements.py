"""Gather what the section *Announcements* shows: whether what happens on clusters is told to their brokers."""

from dataclasses import dataclass

from twinhive.operations.journal.journal_reading import JournalReader
from twinhive.operations.journal.records import RecordedPublisher
from twinhive.surfaces.page.judging import Level, is_stale


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
    return PublisherRow(one, _level(one), is_stale(one.at, now))


def _level(one: RecordedPublisher) -> Level:
    if one.is_silent:
        return Level.BAD
    if one.broker_trouble and one.position is None:
        return Level.QUIET  # no publisher has ever run: a broker that does not answer keeps nothing from anybody
    return Level.WARN if one.gap or one.broker_trouble else Level.GOOD
