"""Keep how what happens on clusters is told: in the journal for the page, and as metrics for alerts."""

from collections.abc import Sequence

from twinhive.operations.journal.records import RecordedPublisher
from twinhive.operations.journal.writing import Journal
from twinhive.operations.monitoring.publisher_alerts import is_silent, standing_line
from twinhive.operations.monitoring.publishers import PublisherSeen
from twinhive.surfaces.airflow.monitor import metrics


def record_publishers(journal: Journal, found: Sequence[PublisherSeen]) -> None:
    """Write what was found. Neither journal nor metrics raise anything."""
    journal.publishers_seen([_recorded(one) for one in found])
    metrics.publishers_seen(found)
    metrics.flush()


def _recorded(one: PublisherSeen) -> RecordedPublisher:
    behind, broker = one.behind, one.broker_trouble
    gap = behind.gap if behind else None
    return RecordedPublisher(
        one.cluster,
        one.at,
        standing_line(one),
        is_silent(one),
        None if broker is None else f"{broker.words.what}: {broker.words.found}",
        behind.holder if behind else None,
        behind.position if behind else None,
        behind.newest if behind else None,
        one.events,
        one.behind_seconds,
        None if gap is None else f"events {gap.first} to {gap.last}",
        None if gap is None else float(gap.at),
    )
