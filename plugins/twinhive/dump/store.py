"""Find, publish, read and remove the dumps of a policy."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from twinhive.dump.claiming import claim_dumps, discard_dump
from twinhive.dump.layout import BASE_KINDS, DumpKind, DumpLayout, kind_of, planner_of
from twinhive.dump.manifest import DumpManifest, UnreadableDump
from twinhive.dump.shards import TableRecord, decode_objects
from twinhive.model.errors import ActNow, DumpReplaced, Missing, TryAgain
from twinhive.model.next_steps import bootstrap
from twinhive.model.policy import Policy
from twinhive.model.text import Clear
from twinhive.ports import FileReader, FileWriter


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
    try:
        return open_dump(files, layouts[-1]) if layouts else None
    except Missing:
        return None


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


def window_ending_at(files: FileReader, policy: Policy, event_id: int) -> Dump | None:
    """Return the finished window whose last event is this one, None without one."""
    for layout in dumps_of(files, policy, DumpKind.INCREMENTAL):
        if layout.bounds[1] == event_id:
            return open_dump(files, layout)
    return None


def dump_of_key(files: FileReader, policy: Policy, key: str) -> Dump:
    """Return the dump that a mapped task was made for. Raises DumpReplaced when another has taken its place."""
    name = key.rpartition("-")[0]
    found = next((layout for layout in dumps_of(files, policy) if layout.name == name), None)
    try:
        dump = open_dump(files, found) if found is not None else None
    except Missing:  # removed after it was found
        dump = None
    if dump is None or dump.key != key:
        planner = planner_of(kind_of(name))
        raise DumpReplaced(
            f"the dump of this task has been replaced (policy {policy.name})",
            found=f"current dump {dump.key}" if dump else f"no dump {name} in {policy.dumps}",
            expected=key,
            next_step=Clear(f"the task {planner} with all tasks after it"),
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
        next_step="nothing, when that run goes on; else " + Clear("this task") + ", or run the phase again",
    )


def of_this_text(dump: Dump, policy: Policy) -> Dump:
    """Return the dump. Raises ActNow when it was made under another text of the policy."""
    if dump.manifest.fingerprint != policy.fingerprint:
        planner = planner_of(dump.manifest.kind)
        raise ActNow(
            f"the dump {dump.key} was made under another text of policy {policy.name}",
            found=f"fingerprint {dump.manifest.fingerprint}",
            expected=f"fingerprint {policy.fingerprint}",
            next_step=Clear(f"the task {planner} with all tasks after it") + ", or put the old policy file back",
        )
    return dump


def open_dump(files: FileReader, layout: DumpLayout) -> Dump:
    """Read a dump's manifest. Raises Missing when the dump is gone."""
    return Dump(layout, DumpManifest.from_json(files.read(layout.manifest), layout.directory))


def begin_attempt(files: FileWriter, policy: Policy, token: str) -> DumpLayout:
    """Return a new directory to write a dump into. Raises Foreign when that for the policy's dumps is not ours.

    Raises TryAgain when another run, which was started at the same time, has removed it meanwhile.
    """
    claim_dumps(files, policy)
    attempt = DumpLayout.attempt(policy.dumps, token)
    try:
        files.write(attempt.begun, b"")
    except Missing as error:
        raise _removed(attempt, error) from error
    return attempt


@contextmanager
def being_written(files: FileWriter, attempt: DumpLayout) -> Iterator[None]:
    """Write an attempt inside. Raises TryAgain for whatever fails because another run has removed it meanwhile."""
    try:
        yield
    except ActNow as error:
        if files.status(attempt.begun) is not None:
            raise
        discard_dump(files, attempt.directory)
        raise _removed(attempt, error) from error


def _removed(attempt: DumpLayout, error: ActNow) -> TryAgain:
    return TryAgain(
        f"the dump that was being written in {attempt.directory} is gone: another run has removed it",
        found=error.what,
        expected="a dump that only the run which began it writes or removes",
        next_step="nothing, when that run has gone on; else " + Clear("this task"),
    )


def publish_dump(files: FileWriter, attempt: DumpLayout, layout: DumpLayout, manifest: DumpManifest) -> Dump:
    """Write the manifest and give a finished attempt its name. Raises TryAgain when another run has removed it."""
    with being_written(files, attempt):
        files.write(attempt.manifest, manifest.to_json())
    if not files.delete_file(attempt.begun):
        discard_dump(files, attempt.directory)
        raise TryAgain(
            f"the dump {layout.directory} is not published: another run has removed parts of it",
            found=f"no {attempt.begun}",
            expected="a dump that only the run which began it writes or removes",
            next_step="nothing, when that run has gone on; else " + Clear("this task"),
        )
    discard_dump(files, layout.directory)
    if not files.rename(attempt.directory, layout.directory):
        raise TryAgain(
            f"the dump {layout.directory} appeared while another one was being written",
            found=f"{layout.directory}, and {attempt.directory}",
            expected="one run that writes it",
            next_step=Clear("this task") + "; another run of it seems to be active",
        )
    return Dump(layout, manifest)


def finish_publishing(files: FileWriter, policy: Policy) -> None:
    """Give finished dumps their names whose writers were killed just before: an earlier one may be gone already."""
    for attempt in attempts_of(files, policy):
        if files.status(attempt.manifest) is None or files.status(attempt.begun) is not None:
            continue
        manifest = open_dump(files, attempt).manifest
        if manifest.kind not in BASE_KINDS:
            continue
        layout = DumpLayout.of(policy.dumps, manifest.kind, manifest.begin.event_id, manifest.end.event_id)
        files.rename(attempt.directory, layout.directory)


def dumps_of(files: FileReader, policy: Policy, *kinds: DumpKind) -> list[DumpLayout]:
    """Return the policy's dumps of some kinds (all), oldest end first; attempts are not among them."""
    dumps = [layout for layout in _children(files, policy.dumps) if layout.is_dump]
    wanted = [layout for layout in dumps if not kinds or layout.kind in kinds]
    return sorted(wanted, key=lambda layout: (layout.bounds[::-1], layout.kind != DumpKind.BOOTSTRAP))


def attempts_of(files: FileReader, policy: Policy) -> list[DumpLayout]:
    """Return the dumps that are being written, or were cut off."""
    return [layout for layout in _children(files, policy.dumps) if layout.is_attempt]


def _children(files: FileReader, directory: str) -> list[DumpLayout]:
    ((_, entries),) = files.list_directories([directory])
    return [DumpLayout(entry.path) for entry in entries or []]


def remove_other_dumps(files: FileWriter, policy: Policy, keep: DumpLayout) -> list[str]:
    """Remove the policy's older dumps and all attempts; return what was removed.

    One run of a policy is active at a time, so whatever is not `keep` is an orphan.
    """
    orphans = [
        layout.directory
        for layout in _children(files, policy.dumps)
        if layout != keep and (layout.is_dump or layout.is_attempt)
    ]
    return [directory for directory in orphans if discard_dump(files, directory)]


def write_json(files: FileWriter, path: str, value: dict[str, Any]) -> None:
    """Write a small JSON file."""
    files.write(path, json.dumps(value, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def read_json(files: FileReader, path: str) -> dict[str, Any] | None:
    """Read a small JSON file, or None when it does not exist."""
    try:
        value: dict[str, Any] = json.loads(files.read(path))
    except Missing:
        return None
    return value
