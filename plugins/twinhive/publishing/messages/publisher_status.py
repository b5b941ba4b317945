"""Say how a publisher is: for Prometheus, and as JSON."""

import time
from collections.abc import Callable
from typing import Any

from twinhive.core.model.errors import TwinhiveError
from twinhive.publishing.messages.publishing_messages import Publisher, PublisherStanding


class PublisherWatch:
    """Note what each round of a publisher came to."""

    def __init__(
        self, publisher: Publisher, cluster: str, holder: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._publisher, self._cluster, self._holder, self._clock = publisher, cluster, holder, clock
        self._behind_since: float | None = None
        self._trouble: str | None = None
        self._troubles = 0

    def note(self, trouble: TwinhiveError | None) -> None:
        """Take in how a round has ended."""
        if trouble is None:
            self._trouble, self._behind_since = None, None
            return
        self._troubles += 1
        self._trouble = f"{trouble.words.what}: {trouble.words.found}"
        self._behind_since = self._clock() if self._behind_since is None else self._behind_since

    @property
    def lag_seconds(self) -> float:
        """For how long rounds have failed; 0 while all that there is, is sent."""
        return 0.0 if self._behind_since is None else self._clock() - self._behind_since

    def document(self) -> dict[str, Any]:
        """Return it for whoever asks."""
        counts = self._publisher.counts
        return {
            "cluster": self._cluster,
            "publisher": self._holder,
            "standing": counts.standing.value,
            "reached_event": self._publisher.reached,
            "newest_event": counts.newest,
            "lag_seconds": round(self.lag_seconds, 3),
            "messages": {kind.value: sent for kind, sent in counts.sent.items()},
            "gaps": counts.gaps,
            "troubles": self._troubles,
            "trouble": self._trouble,
        }

    def prometheus(self) -> str:
        """Return it in Prometheus' text format."""
        counts = self._publisher.counts
        labels = f'cluster="{self._cluster}"'
        behind = max(0, counts.newest - self._publisher.reached) if self._publisher.reached else 0
        gauges = {
            "active": int(counts.standing is PublisherStanding.ACTIVE),
            "lag_seconds": round(self.lag_seconds, 3),
            "behind_events": behind,
        }
        totals = {"gaps_total": counts.gaps, "troubles_total": self._troubles, "fenced_total": counts.fenced}
        lines = ["# TYPE twinhive_publisher_messages_total counter"]
        for kind, sent in counts.sent.items():
            lines.append(f'twinhive_publisher_messages_total{{{labels},kind="{kind.value}"}} {sent}')
        for what, values in (("gauge", gauges), ("counter", totals)):
            for name, value in values.items():
                lines += [f"# TYPE twinhive_publisher_{name} {what}", f"twinhive_publisher_{name}{{{labels}}} {value}"]
        return "\n".join(lines) + "\n"
