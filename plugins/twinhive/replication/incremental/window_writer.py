"""Write the dump of a window: tables that come whole, events, the files that these bring.

A REPL DUMP of events writes one too, for replicas that are not known.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from twinhive.core.model.batches import Batch
from twinhive.core.model.changes.kinds import Event
from twinhive.core.model.objects import Database, Function
from twinhive.core.model.policy import WINDOW_END
from twinhive.core.ports import MetastoreReader
from twinhive.replication.apply.event_coalescing import segments
from twinhive.replication.dump.dump_layout import DumpKind, DumpLayout
from twinhive.replication.dump.dump_store import Dump
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.dump.manifest import DumpManifest, WindowContent
from twinhive.replication.dump.publishing import begin_attempt, publish_dump
from twinhive.replication.dump.unnamed_store import write_unnamed
from twinhive.replication.incremental.resync_snapshots import write_snapshots
from twinhive.replication.incremental.window_files import event_items, write_event_batches
from twinhive.replication.notification_log.cascade_memory import followed_in_window
from twinhive.replication.notification_log.event_stream import EventStream
from twinhive.replication.notification_log.moved_partitions import places_on_replica, places_unknown
from twinhive.replication.notification_log.unnamed_files import Found, find_unnamed
from twinhive.replication.notification_log.window_events import told_events


@dataclass(frozen=True)
class WindowWriter:
    """A window while its dump is written.

    stream       the log as it is read for this window
    event_range  what it is of; it ends later once tables were read whole
    replica      where it is applied, None for replicas that are not known: these may need the files of every event
    has_files    its events come with their files
    read         the tables that come whole, in the batches `snapshots`
    unusable     those that were to, and of which nothing can be brought over now, each with the reason
    passed_over  the tables of whose events nothing is applied: they are read whole, or frozen until they are
    batches      the files of its events, so many `files`
    cascades     its changes of columns that partitions followed
    """

    stream: EventStream
    attempt: DumpLayout
    token: str
    event_range: EventRange
    replica: MetastoreReader | None
    has_files: bool = True
    read: tuple[str, ...] = ()
    unusable: Mapping[str, str] = field(default_factory=dict)
    snapshots: tuple[Batch, ...] = ()
    passed_over: frozenset[str] = frozenset()
    batches: tuple[Batch, ...] = ()
    files: int = 0
    cascades: tuple[int, ...] = ()

    @classmethod
    def begin(
        cls, stream: EventStream, event_range: EventRange, replica: MetastoreReader | None, *, has_files: bool = True
    ) -> "WindowWriter":
        """Begin an attempt; all until it is published is done while it is `being_written`."""
        token = uuid.uuid4().hex
        attempt = begin_attempt(stream.ports.dump_files, stream.policy, token)
        return cls(stream, attempt, token, event_range, replica, has_files)

    def with_whole_tables(self, tables: tuple[str, ...]) -> "WindowWriter":
        """Write tables as they are at the window's end, which becomes a later one for that.

        The events of those that are `unusable` are for whoever freezes them.
        """
        found = write_snapshots(self.stream, self.attempt, self.event_range, tables)
        return replace(
            self,
            event_range=found.event_range,
            snapshots=found.batches,
            read=found.tables,
            unusable=found.unusable,
            passed_over=self.passed_over.union(found.tables),
        )

    def write_events(self) -> Found:
        """Write the events, with the files that they do not name.

        Return the tables of which neither the log nor a directory tells any more what they hold, each with the first
        event that does not: they have to come whole. And those with a partition that nobody can list.
        """
        files, found = self.stream.ports.dump_files, Found()
        if self.has_files:
            places = places_unknown if self.replica is None else places_on_replica(self.replica, self.stream.policy)
            found = find_unnamed(self.stream, self.event_range, places, self.passed_over)
        files.write(self.attempt.events, self.event_range.pack())
        write_unnamed(files, self.attempt, found.unnamed)
        return found

    def with_files(self) -> "WindowWriter":
        """List the files that the events need copied, and find the changes of columns that partitions followed."""
        ports, policy, end = self.stream.ports, self.stream.policy, self.event_range.end
        events = list(told_events(ports.dump_files, self.attempt))
        items = list(event_items(ports, policy, self._shown(events), self.passed_over, end)) if self.has_files else []
        batches = write_event_batches(ports, policy, self.attempt, items, end)
        log_id = None if self.replica is None else ports.source.log_id()
        cascades = followed_in_window(self.stream, self.event_range, events, log_id)
        return replace(self, batches=batches, files=len(items), cascades=cascades)

    def _shown(self, events: list[Event]) -> list[Event]:
        """Return the events whose effect readers will see: files of those that later ones cancel are not copied."""
        if self.replica is None or self.stream.policy.options.consistency != WINDOW_END:
            return events
        return [event for left, _ in segments(events) for event in left]

    def manifest(
        self, database: Database, *, everything: str = "", functions: tuple[Function, ...] = ()
    ) -> DumpManifest:
        """Describe the window."""
        policy, event_range = self.stream.policy, self.event_range
        return DumpManifest(
            kind=DumpKind.INCREMENTAL,
            token=self.token,
            policy=policy.name,
            fingerprint=policy.fingerprint,
            log_id=self.stream.ports.source.log_id(),
            begin=event_range.begin,
            end=event_range.end,
            database=database,
            batches=(*self.batches, *self.snapshots),
            content=WindowContent(self.cascades, self.read, policy.options.consistency, everything, functions),
            events=len(event_range.rows),
        )

    def publish(self, manifest: DumpManifest) -> Dump:
        """Give the window its name: from now on it is fixed."""
        begin, end = manifest.begin.event_id, manifest.end.event_id
        layout = DumpLayout.of(self.stream.policy.dumps, DumpKind.INCREMENTAL, begin, end)
        return publish_dump(self.stream.ports.dump_files, self.attempt, layout, manifest)
