"""Judge which publishers and brokers somebody has to look at."""

from collections.abc import Iterable, Iterator

from twinhive.core.model.errors import ActNow, LogBroken, TwinhiveError, Unreachable
from twinhive.core.model.human_readable import spoken_time
from twinhive.core.model.messages.publisher_position import ToldGap
from twinhive.core.model.watching.alerts import AlertKind
from twinhive.operations.monitoring.alert_memory import GRACE_SECONDS
from twinhive.operations.monitoring.lag_alerts import Alert
from twinhive.operations.monitoring.publishers import PublisherSeen
from twinhive.publishing.messages.publisher_lag import Behind

_MESSAGES = "*messages."
_GAP_SECONDS = 3_600.0
"""So long after a gap was told the monitor says it: listeners were told by a message, people by nothing else."""
_RUNBOOKS = "docs/runbooks.md"


def messages_of(cluster: str) -> str:
    """Return what stands for the policy of what concerns a cluster's messages: no policy can be called so."""
    return f"{_MESSAGES}{cluster}"


def cluster_of(policy: str) -> str | None:
    """Return the cluster of whose messages an alert is, None for an alert of anything else."""
    return policy.removeprefix(_MESSAGES) if policy.startswith(_MESSAGES) else None


def publisher_alerts(found: Iterable[PublisherSeen]) -> Iterator[Alert]:
    """Yield what is wrong now. A metastore that does not answer is told by the policies that it is of."""
    for one in found:
        if one.max_silence is not None and (error := _silent(one, one.max_silence)) is not None:
            yield Alert(messages_of(one.cluster), AlertKind.PUBLISHER, error, grace=GRACE_SECONDS * _may_pass(error))
        gap = one.behind.gap if one.behind else None
        if gap is not None and one.at - gap.at < _GAP_SECONDS:
            yield Alert(messages_of(one.cluster), AlertKind.UNSAID, _unsaid(one, gap))


def standing_line(one: PublisherSeen) -> str:
    """Say in one line how a cluster's messages are."""
    if _has_not_begun(one):
        return "no publisher has ever run, and no broker answers: nothing is told yet"
    if one.broker_trouble is not None:
        return f"nothing can be sent: {_in_line(one.broker_trouble)}"
    if one.trouble is not None:
        return f"not known: {_in_line(one.trouble)}"
    if one.behind is None:
        return "no publisher has ever run"
    if one.behind.lost:
        return "what waits to be told is gone from the log: the publisher will tell a gap"
    if one.behind.since is None:
        return "all is told"
    more = "at least " if one.behind.at_least else ""
    return f"{more}{one.behind.events:,} events wait to be told, the oldest for {spoken_time(one.behind_seconds)}"


def is_silent(one: PublisherSeen) -> bool:
    """True while something is not told that should be, for too long."""
    return one.max_silence is not None and _silent(one, one.max_silence) is not None


def is_in_trouble(one: PublisherSeen) -> bool:
    """True while a person must act, and how long something waits to be told cannot be said, so that no limit is passed.

    No publisher has ever run, or events were gone before they were told.
    """
    if one.max_silence is None or _has_not_begun(one):
        return False
    if one.behind is not None:
        return one.behind.lost is not None
    return not isinstance(one.trouble, Unreachable)


def _has_not_begun(one: PublisherSeen) -> bool:
    """True where a broker is only named yet: nobody misses a message. The first start of a publisher ends that."""
    return one.behind is None and one.trouble is None and isinstance(one.broker_trouble, Unreachable)


def _silent(one: PublisherSeen, most: float) -> TwinhiveError | None:
    if _has_not_begun(one):
        return None
    if one.broker_trouble is not None:
        return _broker_down(one, one.broker_trouble)
    if one.trouble is not None:
        return None if isinstance(one.trouble, Unreachable) else one.trouble
    if one.behind is None:
        return _never_run(one)
    if one.behind.lost is not None:
        return _lost(one, one.behind.lost)
    seconds = one.behind_seconds or 0.0
    return _late(one, one.behind, seconds, most) if seconds > most else None


def _may_pass(error: TwinhiveError) -> bool:
    return isinstance(error, Unreachable)


def _broker_down(one: PublisherSeen, trouble: TwinhiveError) -> TwinhiveError:
    words = trouble.words
    kind = Unreachable if isinstance(trouble, Unreachable) else ActNow
    return kind(
        f"what happens on cluster {one.cluster} is not told: {words.what}",
        found=words.found,
        expected="a broker that lets the publisher in",
        next_step="start the broker, or mend the way to it, or the connection; the publisher then sends all that waits "
        f"by itself ({_RUNBOOKS}, 'A message broker is down')",
    )


def _never_run(one: PublisherSeen) -> ActNow:
    return ActNow(
        f"no publisher of cluster {one.cluster} has ever run, and clusters.yaml names a broker for it",
        found="no position of a publisher in its metastore",
        expected="a publisher that sends",
        next_step=f"start it: twinhive publish {one.cluster}; or take messages.broker out of clusters.yaml",
    )


def _late(one: PublisherSeen, behind: Behind, seconds: float, most: float) -> ActNow:
    more = "at least " if behind.at_least else ""
    holder = f"publisher {behind.holder} has sent last" if behind.holder else "the last publisher was stopped"
    return ActNow(
        f"what happens on cluster {one.cluster} is not told",
        found=f"{more}{behind.events:,} events wait to be told, the oldest for {spoken_time(seconds)}; {holder}, up to "
        f"event {behind.position}, the newest is {behind.newest}",
        expected=f"at most {spoken_time(most)} (messages.max_silence)",
        next_step=f"see that one runs: twinhive publish {one.cluster}; its log says what keeps it "
        f"({_RUNBOOKS}, 'A publisher is behind, or does not run')",
    )


def _lost(one: PublisherSeen, broken: LogBroken) -> ActNow:
    words = broken.words
    return ActNow(
        f"events of cluster {one.cluster} were gone before they were told",
        found=f"{words.what}: {words.found}",
        expected="a log that keeps its events until they are told",
        next_step=f"start the publisher, which tells it as a GAP: twinhive publish {one.cluster} "
        f"({_RUNBOOKS}, 'Events were gone before they were told')",
    )


def _unsaid(one: PublisherSeen, gap: ToldGap) -> ActNow:
    return ActNow(
        f"events {gap.first} to {gap.last} of cluster {one.cluster} were never told: listeners have heard of a GAP",
        found=f"they were gone from the log {spoken_time(max(0.0, one.at - gap.at))} ago",
        expected="a log that keeps its events until they are told",
        next_step="see why the publisher was away, and raise metastore.event.db.listener.timetolive; consumers that do "
        f"not look at the store after a GAP must be told ({_RUNBOOKS}, 'Events were gone before they were told')",
    )


def _in_line(error: TwinhiveError) -> str:
    return " ".join(f"{error.words.what}: {error.words.found}".split())
