"""Keep what a fenced source holds in snapshots, and bring back what the fence lets be destroyed.

Behind a quota of names a TRUNCATE deletes a directory and cannot make it again: the statement fails, and its rows are
gone. No event tells of it, so nobody else knows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from twinhive.core.model.errors import ActNow, AlreadyThere, CopyDiffers, Missing, Refused, TwinhiveError
from twinhive.core.model.failover.fence import FenceNote
from twinhive.core.model.files import (
    ChangeKind,
    FileStatus,
    base_name,
    is_below,
    is_hidden,
    is_unfinished,
    join,
    parent,
    qualified,
    relative_to,
    short_hash,
)
from twinhive.core.model.human_readable import first_of
from twinhive.core.model.names import TableName
from twinhive.core.model.next_steps import RETRIES
from twinhive.core.model.objects import Table
from twinhive.core.model.policy import Policy
from twinhive.core.model.text import render
from twinhive.core.ports import FileReader, Lease, SnapshotReader, SnapshotWriter, TreeWriter, WritePorts
from twinhive.core.ports.same_content import have_same_content
from twinhive.hive.events.reader import position_at
from twinhive.operations.failover.fence.note import mark_of, note_of, note_path
from twinhive.replication.notification_log.touched_tables import touched_after
from twinhive.replication.replica.source_scope import read_selected
from twinhive.transfer.engine.attributes import UNKNOWN, AttributeCopier

_ALL = frozenset("rugpaxt")
"""What a file or directory that is brought back has again, besides its bytes: the letters of the engine of trees."""
_NAMED = 5


def without_snapshots(files: SnapshotReader, directories: Iterable[str], name: str = "") -> list[str]:
    """Return those directories that cannot have snapshots, or do not have the one of that name."""
    found = {one: files.snapshots(one) for one in directories}
    return [one for one, held in found.items() if held is None or (name and name not in held)]


def said_without(directories: Sequence[str]) -> str:
    """Say what cannot be brought back, and what allows it."""
    commands = first_of([f"hdfs dfsadmin -allowSnapshot {one}" for one in directories], _NAMED)
    return (
        f"what a TRUNCATE behind the fence deletes could not be brought back: {len(directories)} of its directories "
        f"can have no snapshots; an administrator allows them with: {'; '.join(commands)}"
    )


def keep_snapshots(ports: WritePorts, policy: Policy, lease: Lease, note: FenceNote, found: Sequence[str]) -> FenceNote:
    """Make a snapshot of each directory that can have one, before it is fenced; return the note, which says so."""
    files = ports.trees.source
    barred = set(without_snapshots(files, found))
    new = {one: note.snapshot for one in found if one not in barred and one not in note.snapshots}
    if new:
        end = note.log_end or position_at(ports.source, ports.source.current_event_id())
        note = replace(note, snapshots={**note.snapshots, **new}, log_end=end)
        lease.confirm()
        ports.replica_files.write(note_path(policy), note.written())
    for directory, name in note.snapshots.items():
        with suppress(Missing):
            held = files.snapshots(directory)
            if held is not None and name not in held:
                lease.confirm()
                with suppress(AlreadyThere, Refused):  # an answer that was lost; without it the failover goes on
                    files.create_snapshot(directory, name)
    return note


def delete_snapshots(
    note: FenceNote, files: SnapshotWriter, confirm: Callable[[], None], kept: Iterable[str] = ()
) -> None:
    """Delete the snapshots of a fence but those of `kept` directories; what is gone already is fine."""
    for directory, name in note.snapshots.items():
        with suppress(Missing):
            if directory not in kept and name in (files.snapshots(directory) or ()):
                confirm()
                files.delete_snapshot(directory, name)


@dataclass(frozen=True)
class _Leaf:
    """A directory that a table names. `has_files`: what lies in it is content, not directories of partitions alone."""

    table: TableName
    place: str
    has_files: bool


@dataclass(frozen=True)
class BroughtBack:
    """What was brought back, in words; and the directories of which something could not be."""

    lines: tuple[str, ...] = ()
    left: frozenset[str] = frozenset()


def bring_back(ports: WritePorts, policy: Policy, note: FenceNote, confirm: Callable[[], None]) -> BroughtBack:
    """Bring back the files that were deleted behind the fence, where their table names the directory still.

    Not those of a table that the log names since: there a statement may have succeeded. Nor into a directory that holds
    what the snapshot does not. Each file is made and compared beside, then renamed. Killed anywhere, a second run goes
    on.
    """
    lines: list[str] = []
    left: set[str] = set()
    for directory, name in note.snapshots.items():
        files = ports.trees.restored
        with suppress(Missing):
            if name not in (files.snapshots(directory) or ()):
                continue
            damage = _Damage(ports, policy, note, directory)
            lines += damage.mended(confirm)
            if damage.refused:
                left.add(directory)
                lines.append(
                    f"not brought back: {_said(damage.refused)}. What was there before is in "
                    f"{directory}/.snapshot/{name}, which stays: take out what you need, "
                    f"then: hdfs dfs -deleteSnapshot {directory} {name}"
                )
    return BroughtBack(tuple(lines), frozenset(left))


def would_bring_back(ports: WritePorts, policy: Policy, note: FenceNote) -> Iterator[str]:
    """Say of which tables `bring_back` would bring something back, and of which it could not."""
    found: set[str] = set()
    refused: dict[str, str] = {}
    for directory, name in note.snapshots.items():
        with suppress(Missing):
            if name in (ports.trees.source.snapshots(directory) or ()):
                damage = _Damage(ports, policy, note, directory)
                found |= damage.tables()
                refused |= damage.refused
    if found:
        yield f"would bring back what was deleted behind the fence of: {', '.join(first_of(sorted(found), _NAMED))}"
    if refused:
        yield f"would not be brought back: {_said(refused)}"


class _Damage:
    """What one fenced directory has lost since its snapshot.

    refused   why something of a table cannot be brought back
    """

    def __init__(self, ports: WritePorts, policy: Policy, note: FenceNote, directory: str) -> None:
        self._ports = ports
        self._policy = policy
        self._note = note
        self._directory = directory
        self._files: TreeWriter = ports.trees.restored
        self._before = join(directory, ".snapshot", note.snapshots[directory])
        self._beside = join(directory, f".{note.snapshot}")
        self._attributes = AttributeCopier(self._files, self._files, _ALL, UNKNOWN)
        self._seen: tuple[int, frozenset[TableName] | None] = (-1, None)
        self.refused: dict[str, str] = {}

    def tables(self) -> set[str]:
        """Return the names of the tables of which something would be brought back."""
        lost = self._lost()
        return {leaf.table.table for leaf in self._leaves_of(lost) if self._may_mend(leaf)} if lost else set()

    def mended(self, confirm: Callable[[], None]) -> Iterator[str]:
        """Bring back what is lost, leaf by leaf; yield what was."""
        lost = self._lost()
        if lost:
            counts: dict[str, int] = {}
            for leaf in self._leaves_of(lost):
                name = leaf.table.table
                try:
                    if (made := self._mend(leaf, confirm)) is not None:
                        counts[name] = counts.get(name, 0) + made
                except ActNow as error:
                    # A quota that is full, say: the writers are let in all the same.
                    self.refused[name] = render(error.words.what)
            yield from (f"brought back: {count} files of {name}" for name, count in sorted(counts.items()))
        self._clear(confirm)

    def _lost(self) -> list[str]:
        name = self._note.snapshots[self._directory]
        changes = self._files.snapshot_changes(self._directory, name, "")
        return [join(self._directory, one.path) for one in changes if one.kind is ChangeKind.DELETED]

    def _leaves_of(self, lost: Sequence[str]) -> Iterator[_Leaf]:
        """Yield the leaves that are at, above or below a path that is lost; those above come first."""
        gone = set(lost)
        around = {above for path in lost for above in _upwards(path, self._directory)}
        for leaf in self._leaves():
            if leaf.place in around or any(above in gone for above in _upwards(leaf.place, self._directory)):
                yield leaf

    def _leaves(self) -> Iterator[_Leaf]:
        root = self._files.root
        for table in read_selected(self._ports.source, self._policy):
            for place, has_files in self._places(table):
                found = qualified(place, root).rstrip("/")
                if found == self._directory or is_below(found, self._directory):
                    yield _Leaf(table.name, found, has_files)

    def _places(self, table: Table) -> Iterator[tuple[str, bool]]:
        if table.location:
            yield table.location, not table.partition_keys
        if table.partition_keys:
            with suppress(Missing):
                yield from ((place, True) for _, place in self._ports.source.partition_locations(table) if place)

    def _why_not(self, leaf: _Leaf) -> str:
        """Say why a leaf stays as it is, '' when what it lacks may be brought back."""
        touched = self._touched()
        if touched is None or leaf.table in touched:
            said = "does not tell all" if touched is None else "names it"
            missing = self._missing(leaf)
            return f"the log {said} since the fence, so that a statement may have deleted them" if missing else ""
        if not leaf.has_files:
            return ""
        before, now = self._held(leaf, before=True), self._held(leaf)
        if any(not _is_of(before.get(name), status) for name, status in now.items() if not _is_unseen(name)):
            return f"{leaf.place} holds other files since"
        return ""

    def _touched(self) -> frozenset[TableName] | None:
        """Return the tables that the log names since the snapshot, None where it may be any."""
        newest = self._ports.source.current_event_id()
        if newest != self._seen[0]:
            begin = self._note.log_end
            self._seen = newest, touched_after(self._ports, self._policy, begin) if begin else None
        return self._seen[1]

    def _missing(self, leaf: _Leaf) -> dict[str, FileStatus]:
        """Return what of the snapshot's files is not there, by name; of a leaf that stands, what readers see of it."""
        if not leaf.has_files:
            return {}
        now, stands = self._held(leaf), self._files.status(leaf.place) is not None
        before = self._held(leaf, before=True)
        return {
            name: status for name, status in before.items() if name not in now and not (stands and _is_unseen(name))
        }

    def _held(self, leaf: _Leaf, *, before: bool = False) -> Mapping[str, FileStatus]:
        place = self._then(leaf.place) if before else leaf.place
        return {relative_to(status.path, place): status for status in _files_below(self._files, place)}

    def _then(self, path: str) -> str:
        """Return where a path is in the snapshot."""
        return join(self._before, relative_to(path, self._directory))

    def _may_mend(self, leaf: _Leaf) -> bool:
        """Tell whether a leaf lacks something that may be brought back."""
        if why := self._why_not(leaf):
            self.refused[leaf.table.table] = why
            return False
        if self._files.status(self._then(leaf.place)) is None:
            return False
        return bool(self._missing(leaf)) or self._files.status(leaf.place) is None

    def _mend(self, leaf: _Leaf, confirm: Callable[[], None]) -> int | None:
        """Return how many files were brought back, None where nothing was, or may be."""
        if not self._may_mend(leaf):
            return None
        missing = self._missing(leaf)
        made = {name: self._made(status, confirm) for name, status in missing.items()}
        # Copying takes its time, and the writers are in again.
        if made and (why := self._why_not(leaf)):
            self.refused[leaf.table.table] = why
            return None
        new = self._make_directories(leaf.place, confirm)
        for name, path in sorted(made.items()):
            target = join(leaf.place, name)
            new |= self._make_directories(parent(target), confirm)
            confirm()
            self._files.rename(path, target)
        for directory in sorted(new, reverse=True):
            self._like_before(self._then(directory), directory, confirm)
        return len(made) if made or new else None

    def _made(self, original: FileStatus, confirm: Callable[[], None]) -> str:
        """Make a copy of a file of the snapshot beside, and compare it. Raises CopyDiffers."""
        path = join(self._beside, short_hash(original.path))
        there = self._files.status(path)
        if there is None or not self._is_equal(original, path):
            if there is not None:
                confirm()
                self._files.delete_file(path)
            confirm()
            self._files.create_from(self._files.open(original.path), path, how=self._attributes.creation(original))
            if not self._is_equal(original, path):
                raise CopyDiffers(
                    f"{path}: what was brought back is not what was there",
                    found="another length or checksum",
                    expected=f"that of {original.path}",
                    next_step=RETRIES,
                )
        self._like_before(original.path, path, confirm)
        return path

    def _is_equal(self, original: FileStatus, path: str) -> bool:
        there = self._files.status(path)
        is_alike = there is not None and there.length == original.length
        return is_alike and have_same_content(self._files, original.path, self._files, path)

    def _make_directories(self, path: str, confirm: Callable[[], None]) -> set[str]:
        """Make a directory of a leaf and those above it; return those that were made."""
        new = {one for one in _upwards(path, self._directory) if self._files.status(one) is None}
        if new:
            confirm()
            self._files.make_directories(path)
        return new

    def _like_before(self, original: str, path: str, confirm: Callable[[], None]) -> None:
        """Give a path owner, rights and times of before, where the snapshot knows them."""
        then, now = self._files.status(original), self._files.status(path)
        if then is not None and now is not None:
            confirm()
            self._attributes.align(then, now)

    def _clear(self, confirm: Callable[[], None]) -> None:
        """Remove what was made beside and is not used."""
        if self._files.status(self._beside) is not None:
            for _, children in self._files.list_directories([self._beside]):
                for child in children or ():
                    confirm()
                    self._files.delete_file(child.path)
            confirm()
            self._files.delete_file(self._beside)


def drop_after_promotion(ports: WritePorts, policy: Policy) -> list[str]:
    """Delete a fence's snapshots once the replica has taken over: there is no abort any more.

    The replica is open then, whatever comes of this: where it fails, it is said, and failback does it.
    """
    try:
        database = ports.source.database(policy.source.database)
        mark = mark_of(policy, database.parameters) if database is not None else None
        if mark is not None:
            delete_snapshots(note_of(ports.replica_files, mark), ports.trees.source, lambda: None)
    except TwinhiveError as error:
        why = render(error.words.what)
        return [
            f"snapshots of the fence of {policy.source} may stay until failback, or until the policy is given up: {why}"
        ]
    return []


def _said(refused: Mapping[str, str]) -> str:
    return "; ".join(first_of([f"{one}: {why}" for one, why in sorted(refused.items())], _NAMED))


def _is_of(before: FileStatus | None, now: FileStatus) -> bool:
    """Tell whether a file is one that the snapshot has, or one that was brought back."""
    if before is None:
        return False
    return now.file_id == before.file_id or (now.length, now.modified_ms) == (before.length, before.modified_ms)


def _is_unseen(name: str) -> bool:
    """Tell whether readers pass over a file, by its name relative to its leaf."""
    return any(map(is_hidden, name.split("/")))


def _upwards(path: str, top: str) -> Iterator[str]:
    """Yield a path and those above it, up to `top` with it."""
    while path != top:
        yield path
        path = parent(path)
    yield top


def _files_below(files: FileReader, directory: str) -> Iterator[FileStatus]:
    """Yield all files below a directory, hidden ones too; none of a missing one."""
    level = [directory]
    while level:
        below: list[str] = []
        for _, page in files.list_pages(level):
            for entry in page or ():
                # Names of unfinished writes are many, and nobody wants them back.
                if entry.is_directory and not is_unfinished(base_name(entry.path)):
                    below.append(entry.path)
                elif not entry.is_directory:
                    yield entry
        level = below
