"""What the journal holds, as values. Times are seconds since 1970 (UTC), lengths are bytes."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from twinhive.core.model.table_status import TableStanding


class Outcome(StrEnum):
    """How a window or a batch ended."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    REPLACED = "replaced"
    """Left unfinished when another one of its phase was begun."""


WHOLE_RUN = "(run)"
"""Stands for the task of a failure that none could say, as when its process was killed."""

IN_TROUBLE = (TableStanding.QUARANTINED, TableStanding.WAITS_FOR_RESYNC)
"""The states of tables that do not follow the source any more."""


@dataclass(frozen=True)
class HeldSets:
    """The sets that a replica holds back: how many, and of the first ones name, reason, and since when."""

    number: int
    named: Sequence[tuple[str, str, float]]

    def as_json(self) -> str:
        """Return it as one text."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def of_json(cls, text: str) -> "HeldSets":
        """Read what was written."""
        kept = json.loads(text)
        return cls(kept["number"], [(name, why, since) for name, why, since in kept["named"]])


@dataclass(frozen=True)
class PolicyState:
    """How a policy was when it was last looked at.

    source, replica   `cluster/database`, '' where the policy file does not say
    phase        absent, loading, following, promoted; unusable or unreachable: `trouble` says why
    replicated, newest   event ids of the replica and of the source's log
    lag_events, lag_seconds   None for a policy that does not follow
    rpo_events, rpo_seconds   of these, what would be lost if the source died now; None where nobody knows
    max_lag      seconds that the policy allows, None: any
    paused       the reason, None for a policy that is not
    stalled      which copies move nothing, None when all do
    held_sets    the sets that the replica holds back, as `HeldSets` writes them; None: none
    """

    policy: str
    at: float
    source: str
    replica: str
    phase: str
    replicated: int | None = None
    newest: int | None = None
    lag_events: int | None = None
    lag_seconds: float | None = None
    max_lag: float | None = None
    paused: str | None = None
    trouble: str | None = None
    stalled: str | None = None
    rpo_events: int | None = None
    rpo_seconds: float | None = None
    held_sets: str | None = None

    @property
    def too_late(self) -> bool:
        """True when the lag is more than the policy allows."""
        return self.max_lag is not None and self.lag_seconds is not None and self.lag_seconds > self.max_lag


@dataclass(frozen=True)
class PolicyOverview(PolicyState):
    """A policy's state with what else is wrong: failures nobody has mended, tables that do not follow."""

    open_failures: int = 0
    tables: int = 0
    tables_in_trouble: int = 0


@dataclass(frozen=True)
class RecordedCopies:
    """What a placement's last look at one of its tables found.

    source, cluster   where the table is at home, and where its copies are
    place             the directory of the placement's copies
    fresh, stale, missing   how many of its objects have a copy that may be read, one that may not, none
    since             why the first of those is stale: since which event
    left_out          why the first of what is not copied at all is not
    bytes             what the copies hold
    at                when that was looked at
    """

    policy: str
    table: str
    source: str
    cluster: str
    place: str
    fresh: int
    stale: int
    missing: int
    bytes: int
    at: float
    since: str | None = None
    left_out: str | None = None


@dataclass(frozen=True)
class RecordedSet:
    """A set that a replica shows.

    marked   when it was marked at the source, the last time
    shown    since when the replica shows it so
    count    how often it was marked
    by       who has marked it, None where nobody says it
    """

    policy: str
    table: str
    spec: str
    marked: float
    shown: float
    count: int
    by: str | None = None


@dataclass(frozen=True)
class RecordedPublisher:
    """How a cluster's publisher was found.

    standing         in a sentence
    is_silent        somebody has to look
    broker_trouble   None: the broker answers
    holder           the publisher that has sent last, None after one that ended in order
    position, newest   up to which event all is told, and the newest one
    events, seconds  what waits to be told, and for how long; None where that is not known
    gap, gap_at      the last events that were gone before they were told, and when that was seen
    """

    cluster: str
    at: float
    standing: str
    is_silent: bool
    broker_trouble: str | None = None
    holder: str | None = None
    position: int | None = None
    newest: int | None = None
    events: int | None = None
    seconds: float | None = None
    gap: str | None = None
    gap_at: float | None = None


@dataclass(frozen=True)
class RecordedProof:
    """What the last verification of all tables of a policy said.

    at           when it ended
    event        of which event of the source's log it speaks
    headline     whether the replica is equal, in a sentence
    coverage     of how much something is said
    findings     how many differences are no work under way
    suspects     how many are looked at again
    not_judged   of how many nothing is said
    details      what these are, a line each; None: nothing
    commands     what mends the findings, a line each; None: nothing
    """

    policy: str
    at: float
    event: int
    headline: str
    coverage: str
    findings: int = 0
    suspects: int = 0
    not_judged: int = 0
    details: str | None = None
    commands: str | None = None


@dataclass(frozen=True)
class LagSample:
    """The lag of a policy at one time; None while it did not follow."""

    policy: str
    at: float
    replicated: int | None
    newest: int | None
    lag_events: int | None
    lag_seconds: float | None


@dataclass(frozen=True)
class WindowRun:
    """One dump on its way to the replica: a first copy, a round, a window of events, a pass over external tables.

    dump        the dump's key, or the pass's name
    dag_id, run_id   the run that worked on it last
    ended       None while it runs
    begin_event, end_event   (begin, end] are its events
    batches     how many batches its copy has
    files, bytes   what was copied
    outcome     one of `Outcome`
    """

    policy: str
    phase: str
    dump: str
    dag_id: str
    run_id: str
    began: float
    ended: float | None = None
    begin_event: int | None = None
    end_event: int | None = None
    events: int = 0
    batches: int = 0
    files: int = 0
    bytes: int = 0
    outcome: str = Outcome.RUNNING


@dataclass(frozen=True)
class BatchRun:
    """The last copy of one batch; files and bytes are those that this copy moved."""

    policy: str
    dump: str
    batch: str
    label: str
    dag_id: str
    run_id: str
    task_id: str
    map_index: int
    ended: float
    seconds: float
    files: int = 0
    bytes: int = 0
    outcome: str = Outcome.DONE


@dataclass(frozen=True)
class Failure:
    """A task that failed, and what its error says.

    kind      the class of the error: Unreachable, Foreign, ...
    act_now   a person must act; else the task is tried again
    commands  those that it names, as they can be run, a line each; None: none
    resolved  when the task, or one that makes up for it, succeeded or failed anew; None: it is open
    """

    policy: str
    at: float
    dag_id: str
    run_id: str
    task_id: str
    map_index: int
    try_number: int
    kind: str
    act_now: bool
    what: str
    found: str | None = None
    expected: str | None = None
    next_step: str | None = None
    commands: str | None = None
    resolved: float | None = None


@dataclass(frozen=True)
class OpenFailures:
    """What is open of one DAG in one family of errors: how many tasks, and the newest failure."""

    number: int
    newest: Failure


@dataclass(frozen=True)
class SentMessage:
    """What people were told through a channel of something that is wrong (`topic`: a kind, and what it is about).

    tried    when it was last sent, well or not
    told     when it was last sent well, None: it never was
    trouble  why the last try failed, None when it did not
    """

    policy: str
    topic: str
    channel: str
    tried: float
    told: float | None = None
    trouble: str | None = None


@dataclass(frozen=True)
class RecordedTable:
    """What a table of the policy is on the replica, when it was last looked at.

    kind        a value of `model.objects.TableKind`
    state       one of `TableStanding`
    reason      why it is in this state, where there is more to say
    files, bytes   as the source's metastore counts them, None where it does not
    last_event  the event that last shaped the replica's table
    last_sync   external tables: when a copy of their data last ended
    """

    policy: str
    table: str
    kind: str
    state: str
    reason: str | None = None
    files: int | None = None
    bytes: int | None = None
    last_event: int | None = None
    last_sync: float | None = None
    at: float = 0.0
