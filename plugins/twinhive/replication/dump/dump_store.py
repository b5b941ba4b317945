"""Find, order and open the dumps of a policy; refuse those of another text of it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

from twinhive.core.model.changes.events import EventRow
from twinhive.core.model.errors import ActNow, DumpReplaced, Missing, TryAgain
from twinhive.core.model.files import join
from twinhive.core.model.next_steps import bootstrap
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import Again, Clear
from twinhive.core.ports import FileReader, children, if_there
from twinhive.replication.dump.dump_layout import (
    BASE_KINDS,
    KINDS_OF_DUMPS,
    PLANNERS,
    DumpKind,
    DumpLayout,
    dumps_directory,
    kind_of,
)
from twinhive.replication.dump.event_range import EventRange
from twinhive.replication.dump.manifest import DumpManifest, UnreadableDump
from twinhive.replication.dump.passes.pass_manifest import PassManifest
from twinhive.replication.dump.shards import TableRecord, decode_objects


@dataclass(frozen=True)
class Dump:
    """A dump that can be read: its place and its manifest."""

    layout: DumpLayout
    manifest: DumpManifest

    @property
    def key(self) -> str:
        """Return what tells this dump from every other, also from one that began at the same event."""
        return f"{self.layout.name}-{self.manifest.token[:8]}"

    def objects(self, files: FileReader, batch: str) -> list[TableRecord]:
        """Read the tables and partitions of one batch."""
        return decode_objects(files.read(self.layout.objects(batch)))

    def rows(self, files: FileReader) -> tuple[EventRow, ...]:
        """Read the events of a window, as the log holds them."""
        return EventRange.unpack(files.read(self.layout.events)).rows


@dataclass(frozen=True)
class ExternalPass:
    """A complete pass: its place and its manifest."""

    layout: DumpLayout
    manifest: PassManifest

    @property
    def name(self) -> str:
        """Return what tells this pass from every other."""
        return self.layout.name


Found = TypeVar("Found", Dump, ExternalPass)


def current_dump(files: FileReader, policy: Policy) -> Dump:
    """Return the newest dump to load. Raises ActNow when there is none, or one of another policy text."""
    layouts = dumps_of(files, policy, *BASE_KINDS)
    if not layouts:
        raise Missing(
            f"policy {policy.name} has no dump in {policy.dumps}",
            found="no dump that is complete",
            expected="a dump that list_objects or a round has written",
            next_step=bootstrap(policy.name),
        )
    return of_this_text(open_dump(files, layouts[-1]), policy)


def newest_dump(files: FileReader, policy: Policy) -> Dump | None:
    """Return the newest dump to load, whatever text it was made under.

    None when there is none that this version reads. A server that does not let it be read says nothing of the dump:
    what it raises is raised.
    """
    try:
        return newest_dump_begun(files, policy)
    except UnreadableDump:
        return None


def newest_dump_begun(files: FileReader, policy: Policy) -> Dump | None:
    """Return the same of a load that has begun: one that this version does not read is there all the same.

    Raises UnreadableDump for it; None when there is none.
    """
    layouts = dumps_of(files, policy, *BASE_KINDS)
    return if_there(open_dump, files, layouts[-1]) if layouts else None


def window_at(files: FileReader, policy: Policy, event_id: int) -> Dump | None:
    """Return the finished window (begin, end] that holds the event after a position, None without one.

    It may have been cut under another text of the policy. One without events, which only resyncs tables,
    is found at its own position.
    """
    for layout in dumps_of(files, policy, DumpKind.INCREMENTAL):
        begin, end = layout.bounds
        if begin <= event_id < end or begin == event_id == end:
            return open_dump(files, layout)
    return None


def windows_ending_at(files: FileReader, policy: Policy, event_id: int) -> Iterator[Dump]:
    """Yield the finished windows whose last event is this one: one with events, one without."""
    ending = (one for one in dumps_of(files, policy, DumpKind.INCREMENTAL) if one.bounds[1] == event_id)
    yield from (open_dump(files, layout) for layout in ending)


def dump_of_key(files: FileReader, policy: Policy, key: str) -> Dump:
    """Return the dump that a mapped task was made for. Raises DumpReplaced when another has taken its place."""
    name = key.rpartition("-")[0]
    found = next((layout for layout in dumps_of(files, policy) if layout.name == name), None)
    dump = if_there(open_dump, files, found) if found is not None else None
    if dump is None or dump.key != key:
        raise DumpReplaced(
            f"the dump of this task has been replaced (policy {policy.name})",
            found=f"current dump {dump.key}" if dump else f"no dump {name} in {policy.dumps}",
            expected=key,
            next_step=_planned_again(kind_of(name)),
        )
    return of_this_text(dump, policy)


@contextmanager
def while_it_stands(files: FileReader, policy: Policy, key: str) -> Iterator[None]:
    """Work on a dump. Raises DumpReplaced for whatever fails because it is not there any more."""
    try:
        yield
    except ActNow:
        with suppress(TryAgain):  # nothing can be said of the dump then: what has failed is told as it is
            dump_of_key(files, policy, key)
        raise


@contextmanager
def planned_in_this_run(files: FileReader, policy: Policy, key: str) -> Iterator[None]:
    """Work on a dump that this run has planned. Raises TryAgain for whatever fails because it is not there any more."""
    try:
        with while_it_stands(files, policy, key):
            yield
    except DumpReplaced as replaced:
        raise planned_anew(policy, replaced) from replaced


def planned_anew(policy: Policy, replaced: DumpReplaced) -> TryAgain:
    """Return what a run says whose dump another one has replaced: unlike a task, it plans anew when it is repeated."""
    return TryAgain(
        f"another run of policy {policy.name} has replaced or removed the dump that this one has planned",
        found=replaced.found,
        expected=replaced.expected,
        next_step="nothing, when that run goes on; else " + Again() + ", or run the phase again",
    )


def layout_of_next_pass(files: FileReader, policy: Policy, event_id: int) -> DumpLayout:
    """Name a new pass by its event and by its time in seconds, which is after those of all passes before it."""
    last = max((layout.bounds[1] for layout in dumps_of(files, policy, DumpKind.EXTERNAL)), default=0)
    now = max(int(time.time()), last + 1)
    return DumpLayout.of(dumps_directory(policy, DumpKind.EXTERNAL), DumpKind.EXTERNAL, event_id, now)


def newest_pass(files: FileReader, policy: Policy) -> ExternalPass | None:
    """Return the newest complete pass, None without one."""
    return next(passes_of(files, policy), None)


def passes_of(files: FileReader, policy: Policy) -> Iterator[ExternalPass]:
    """Yield the policy's complete passes, the newest first."""
    for layout in reversed(dumps_of(files, policy, DumpKind.EXTERNAL)):
        if found := if_there(_open_pass, files, layout):
            yield found


def pass_of_name(files: FileReader, policy: Policy, name: str) -> ExternalPass:
    """Return the pass that a mapped task was made for. Raises ActNow when it is gone, or is of another policy text."""
    found = if_there(_open_pass, files, layout_of_pass(policy, name))
    if found is None:
        raise _does_not_count(policy, f"no complete pass {name}")
    return of_this_text(found, policy)


def layout_of_pass(policy: Policy, name: str) -> DumpLayout:
    """Return where a pass lies."""
    return DumpLayout(join(dumps_directory(policy, DumpKind.EXTERNAL), name))


def of_this_text(dump: Found, policy: Policy) -> Found:
    """Return a dump or a pass. Raises ActNow when it was made under another text of the policy."""
    if dump.manifest.fingerprint == policy.fingerprint:
        return dump
    if isinstance(dump, ExternalPass):
        raise _does_not_count(policy, "it was made under another text of the policy")
    raise ActNow(
        f"the dump {dump.key} was made under another text of policy {policy.name}",
        found=f"fingerprint {dump.manifest.fingerprint}",
        expected=f"fingerprint {policy.fingerprint}",
        next_step=_planned_again(dump.manifest.kind) + ", or put the old policy file back",
    )


def _does_not_count(policy: Policy, found: str) -> ActNow:
    return ActNow(
        f"the pass of this task does not count any more (policy {policy.name})",
        found=found,
        expected="the newest pass of the policy as it is now",
        next_step=_planned_again(DumpKind.EXTERNAL) + ", or let the next run take over",
    )


def _planned_again(kind: DumpKind) -> Clear:
    return Clear(f"the task {PLANNERS[kind]} with all tasks after it")


def open_dump(files: FileReader, layout: DumpLayout) -> Dump:
    """Read a dump's manifest. Raises Missing when the dump is gone."""
    return Dump(layout, DumpManifest.from_json(files.read(layout.manifest), layout.directory))


def _open_pass(files: FileReader, layout: DumpLayout) -> ExternalPass:
    return ExternalPass(layout, PassManifest.from_json(files.read(layout.manifest)))


def dumps_of(files: FileReader, policy: Policy, *kinds: DumpKind) -> list[DumpLayout]:
    """Return the policy's dumps of some kinds that lie together (all but passes), oldest end first; no attempts."""
    wanted = kinds or KINDS_OF_DUMPS
    found = found_in(files, dumps_directory(policy, wanted[0]))
    of_these = (layout for layout in found if layout.kind in wanted)
    return sorted(of_these, key=lambda layout: (layout.bounds[::-1], layout.kind != DumpKind.BOOTSTRAP))


def found_in(files: FileReader, directory: str) -> list[DumpLayout]:
    """Return what lies in a directory of dumps, strangers too."""
    return [DumpLayout(child.path) for child in children(files, directory)]
