"""Put copies in their places, each by one rename; then mark those whose originals are still what was copied."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import groupby

from twinhive.core.directory_marks.staging import own_staging
from twinhive.core.model.lease_kinds import LeaseKind
from twinhive.core.model.names import TableName
from twinhive.core.model.placement.copy_marks import CopyMark
from twinhive.core.model.placement.touches import Values
from twinhive.core.model.thrift_objects import TableIdentity
from twinhive.core.ports import Lease, WritePorts
from twinhive.core.step.replica_lease import hold_lease
from twinhive.core.step.step_base import Work
from twinhive.core.threads.parallel_map import in_threads
from twinhive.federation.placement.copied_objects import CopyObject
from twinhive.federation.placement.copy_directories import (
    WholeCopy,
    discard_list,
    place_of,
    put_in_place,
    whole_copies,
)
from twinhive.federation.placement.copy_lists import CopyList, ListedCopies, content_of, lists_there, objects_of
from twinhive.federation.placement.marking_copies import objects_now, write_marks
from twinhive.federation.placement.placement_events import NewsSinceList
from twinhive.federation.placement.placement_layout import taken_path
from twinhive.federation.placement.unchanged_objects import Unchanged
from twinhive.transfer.staged.staged_files import CopyItem, base_directory, unfinished_directory


@dataclass(frozen=True)
class CopiesPublished:
    """What came of what was listed: copies that are marked; objects of the newest list that were no more as listed."""

    published: int = 0
    files: int = 0
    bytes: int = 0
    changed: int = 0


@dataclass(frozen=True)
class PublishCopies:
    """Publish what was copied of the lists that are there, batch by batch.

    A run that was killed leaves its list. The newest one comes first: a file that two lists name is copied once, and
    the older list, of which something has changed since, would take it from the one that is still true.
    """

    work: Work

    def run(self, ports: WritePorts) -> CopiesPublished:
        """Return what was published; what has changed since it was listed is left to the next list."""
        policy = self.work.policy
        with hold_lease(ports, self.work, LeaseKind.PLACEMENT) as lease:
            lists = lists_there(ports.replica_files, policy)
            publishing = _Publishing(ports, self.work, lease)
            for listed in lists:
                publishing.publish(listed)
                lease.confirm()
                discard_list(ports.replica_files, policy, listed.name)
            lease.confirm()
            if staging := own_staging(ports.replica_files, policy):
                if ports.replica_files.status(taken_path(policy)) is None:
                    staging.discard(base_directory(policy.staging))
                staging.discard(unfinished_directory(policy.staging))
        done = publishing.done
        self.work.report(f"{done.published} copies are marked; {done.changed} objects are no more what was listed")
        return done


@dataclass
class _Publishing:
    """One run of publishing, under the lease."""

    ports: WritePorts
    work: Work
    lease: Lease
    newest: CopyList | None = None
    """The newest list that the log tells of."""
    done: CopiesPublished = field(default_factory=CopiesPublished)
    _marked: set[tuple[TableName, Values]] = field(default_factory=set)
    """What has a copy of a newer list."""

    def publish(self, listed: CopyList) -> None:
        """Publish a list, batch by batch; nothing of one that was made under another log."""
        policy = self.work.policy
        since = NewsSinceList.begin(self.ports.source, policy, listed.position, listed.log_id)
        if since is None:
            return  # a metastore was restored since
        self.newest = self.newest or listed
        for batch in listed.batches:
            self._publish_batch(listed, objects_of(self.ports.replica_files, policy, listed.name, batch.name), since)

    def _publish_batch(self, listed: CopyList, batch: ListedCopies, since: NewsSinceList) -> None:
        """Publish a batch, table by table, as many objects at a time as one call of the metastore takes."""
        most = self.work.policy.options.partitions_per_call
        left = ((one, items) for one, items in batch.items() if (one.table, one.values) not in self._marked)
        for name, group in groupby(left, key=lambda pair: pair[0].table):
            objects = list(group)
            for start in range(0, len(objects), most):
                self._publish(listed, name, dict(objects[start : start + most]), since)

    def _publish(self, listed: CopyList, name: TableName, objects: ListedCopies, since: NewsSinceList) -> None:
        policy = self.work.policy
        self.lease.confirm()
        files = self.ports.replica_files
        placed = in_threads(
            lambda pair: put_in_place(files, self.lease, policy, listed, *pair),
            objects.items(),
            policy.options.copy_threads,
        )
        there = {one: objects[one] for one, is_placed in zip(objects, placed, strict=True) if is_placed}
        # The log before the objects: whatever happens meanwhile comes after the event that the mark bears.
        news = since.so_far(policy)
        table, now = objects_now(self.ports.source, name, [one.values for one in there])
        unchanged = Unchanged(self.ports, policy, news, now).of(there)
        copies = whole_copies(files, {one: place_of(policy, listed, one) for one in unchanged}, objects)
        marks: dict[Values, CopyMark] = {}
        if table is not None:
            identity = TableIdentity.of(table)
            marks = {
                one.values: _mark(listed, news.end.event_id, one, objects[one], copy, identity)
                for one, copy in copies.items()
            }
        write_marks(self.ports.replica, policy, name, marks)
        self._marked.update((name, values) for values in marks)
        # An older list's objects that have changed are in the newest, or need no copy any more.
        changed = len(objects) - len(marks) if listed == self.newest else 0
        self._count(marks, changed)

    def _count(self, marks: dict[Values, CopyMark], changed: int) -> None:
        done = self.done
        self.done = replace(
            done,
            published=done.published + len(marks),
            files=done.files + sum(mark.files for mark in marks.values()),
            bytes=done.bytes + sum(mark.bytes for mark in marks.values()),
            changed=done.changed + changed,
        )


def _mark(
    listed: CopyList,
    event_id: int,
    one: CopyObject,
    items: Iterable[CopyItem],
    copy: WholeCopy,
    table: TableIdentity,
) -> CopyMark:
    files = length = 0
    for item in items:
        files, length = files + 1, length + item.length
    return CopyMark(
        location=copy.place,
        log_id=listed.log_id,
        event_id=event_id,
        original=one.location,
        directory=one.directory,
        copy=copy.directory,
        table=table,
        files=files,
        bytes=length,
        content=content_of(items),
    )
