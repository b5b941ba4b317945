"""What the parts of the stage `window` hand on, and what they leave for the stages after them."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from twinhive.core.model.batches import Batch
from twinhive.core.model.marks import ReplicaState
from twinhive.core.step.step_base import Then
from twinhive.core.step.step_parts import PolicyRun
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.incremental.full_resync import DatabaseState
from twinhive.replication.incremental.window_writer import WindowWriter
from twinhive.replication.notification_log.event_stream import EventStream


@dataclass(frozen=True)
class WindowCut:
    """What an incremental run works on: the window's dump and the batches that Spark copies.

    `idle` says that there is nothing to apply, `already` why.
    """

    dump: str = ""
    batches: tuple[Batch, ...] = ()
    idle: bool = True
    events: int = 0
    begin: int = 0
    end: int = 0
    already: str | None = None

    @property
    def then(self) -> Then:
        """Nothing is left to do for the stages after an idle one."""
        return Then.END if self.idle else Then.GO_ON


@dataclass(frozen=True)
class WindowDraft:
    """A window that is being planned.

    window       its dump, as far as it is written; its log is without what was to be skipped when it began
    is_cut       it ends before the newest event, so that tables that come whole are left to a later one
    everything   the request for all that the policy selects, '' for none; `database` is as it is at the end then
    whole        the tables that have to come whole: all that are asked for
    waits        those of them that cannot come now, each with the reason
    """

    window: WindowWriter
    is_cut: bool
    everything: str
    whole: tuple[str, ...]
    database: DatabaseState | None = None
    waits: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class WindowStage(PolicyRun):
    """One run of the stage; `state` is that of a replica that follows, `dump` the window once there is one."""

    clock: Callable[[], float] = time.time
    following: ReplicaState | None = None
    draft: WindowDraft | None = None
    dump: Dump | None = None
    result: WindowCut | None = None

    @property
    def state(self) -> ReplicaState:
        """The state of the replica; asked for only where it follows."""
        assert self.following is not None, "a replica that does not follow ends the run before"
        return self.following

    @property
    def position(self) -> int:
        """The event that the replica is at."""
        return self.state.position.event_id

    @property
    def stream(self) -> EventStream:
        """The source's log, as this policy reads it."""
        return EventStream.of(self.ports, self.policy)

    def drafted(self, **changes: object) -> "WindowStage":
        """Return the run with more known of the window that is being planned."""
        assert self.draft is not None, "only a window that is being planned changes"
        return replace(self, draft=replace(self.draft, **changes))  # type: ignore[arg-type]
