"""Remove dumps of statements by age, never one that a replica still needs (seed 002: 'a replication dumpdir cleaner').

Needed is a dump that a replica is loading, or that a replica which has loaded another dump of the same database has not
reached yet. A dump is renamed before it is removed, and looked at once more: a load that began meanwhile gets it back.

What a replica has noted counts as long as there is that replica. Where an old note alone keeps an old dump, its replica
is asked for; when it is gone, the note goes first, and where it is further than its note says, that counts: the DAGs of
a policy bring it further without one. A load that begins meanwhile writes a note of its own, which stays.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from twinhive.core.directory_marks.directories import Owned
from twinhive.core.model.errors import Missing, TwinhiveError
from twinhive.core.model.files import FileStatus, base_name, join, parent
from twinhive.core.model.text import Reader, render
from twinhive.core.ports import FileReader, FileWriter, children
from twinhive.core.step.step_base import Detail, Report
from twinhive.replication.dump.dump_ownership import is_token, own_dump
from twinhive.replication.dump.loader_notes import FoundNote, LoaderNote, loader_notes, remove_note
from twinhive.replication.dump.repl_dump_description import SealedDump, description_path

_REMOVING = "_removing-"
_KEPT = "Dumps that are kept"

IsGone = Callable[[LoaderNote], bool]
"""True when a note's replica is no more, and no load of it is under way. Raises TwinhiveError when nobody knows."""

Reached = Callable[[LoaderNote], int]
"""Returns the event that a note's replica shows to be at, 0 when it shows none. Raises TwinhiveError."""


def _shows_none(note: LoaderNote) -> int:
    return 0


@dataclass(frozen=True)
class _Old:
    """A dump, or what is left of one that was cut off: then `last_event` is None.

    `unread` is why its description could not be read: nobody knows then who needs it.
    """

    directory: str
    made_at: float
    last_event: int | None
    unread: TwinhiveError | None = None


@dataclass(frozen=True)
class DumpCleaner:
    """Remove what is older than `ttl_seconds` at `now` (epoch seconds) in the directory of a database's dumps."""

    files: FileWriter
    dumps: str
    ttl_seconds: float
    now: float
    is_gone: IsGone
    report: Report
    reached: Reached = _shows_none

    def run(self, keep: str | None = None) -> list[str]:
        """Return the directories that were removed.

        `keep` is one that stays, however old it is: of the dump that has just been made.
        """
        notes = _Notes(self, loader_notes(self.files, self.dumps))
        old = sorted(_older(self.files, self.dumps, self.oldest), key=lambda one: one.made_at)
        return [one.directory for one in old if one.directory != keep and self._clean(one, notes)]

    def _clean(self, one: _Old, notes: "_Notes") -> bool:
        """Remove a dump that nobody needs; False when it stays. What cannot be removed is said, and keeps no other."""
        try:
            if why := _why_kept(one, notes):
                self.report(Detail(_KEPT, f"kept, {why}: {one.directory}"))
            elif how := self._remove(one.directory):
                line = f"{how}, older than {self.ttl_seconds:.0f} s: {one.directory}"
                self.report(Detail("Removed dumps", line))
                return True
        except TwinhiveError as error:
            self.report(Detail(_KEPT, f"kept: {render(error.what, Reader.STATEMENTS)}"))
        return False

    def _remove(self, directory: str) -> str:
        """Remove a dump, and say how; '' when it is not ours to remove, or a load has begun meanwhile."""
        owned = own_dump(self.files, directory, _token(directory))
        if owned is None:
            self.report(Detail(_KEPT, f"kept, nothing says that twinhive has made it: {directory}"))
            return ""
        return _take_away(self.files, owned)

    @property
    def oldest(self) -> float:
        """What is older than this is old."""
        return self.now - self.ttl_seconds


@dataclass(frozen=True)
class _Notes:
    """Know which notes count; of each that keeps an old dump the replica is asked for once, if it is old too."""

    cleaner: DumpCleaner
    found: list[FoundNote]
    known: dict[str, LoaderNote | None] = field(default_factory=dict)

    def needing(self, one: _Old) -> list[str]:
        needing = (found for found in self.found if found.note.needs(one.directory, one.last_event))
        counting = filter(None, map(self._counting, needing))
        return sorted({note.replica for note in counting if note.needs(one.directory, one.last_event)})

    def _counting(self, found: FoundNote) -> LoaderNote | None:
        """Return a note as it counts, None for one that was removed."""
        path = found.file.path
        if path not in self.known:
            is_old = found.file.modified_ms / 1000 < self.cleaner.oldest
            self.known[path] = self._asked(found) if is_old else found.note
        return self.known[path]

    def _asked(self, found: FoundNote) -> LoaderNote | None:
        cleaner, note = self.cleaner, found.note
        try:
            if not cleaner.is_gone(note):
                return replace(note, event_id=max(note.event_id, cleaner.reached(note)))
        except TwinhiveError as error:
            why = render(error.what, Reader.STATEMENTS)
            cleaner.report(Detail(_KEPT, f"cannot tell whether {note.replica} still needs any: {why}"))
            return note
        if not remove_note(cleaner.files, found):
            return note
        cleaner.report(Detail("Removed notes of replicas", f"removed, {note.replica} is gone: {found.file.path}"))
        return None


def _why_kept(one: _Old, notes: _Notes) -> str:
    """Return what keeps a dump, '' when nothing does."""
    if one.unread is not None:
        return f"its repl.json cannot be read ({render(one.unread.what, Reader.STATEMENTS)})"
    needed_by = notes.needing(one)
    return f"{', '.join(needed_by)} needs it" if needed_by else ""


def _older(files: FileReader, dumps: str, than: float) -> list[_Old]:
    """Return the old ones of the directories that have the name of a dump; others are of no concern to us."""
    directories = [child for child in children(files, dumps) if child.is_directory and is_token(_token(child.path))]
    return [old for old in (_old(files, child) for child in directories) if old.made_at < than]


def _token(directory: str) -> str:
    return base_name(directory).removeprefix(_REMOVING)


def _old(files: FileReader, child: FileStatus) -> _Old:
    try:
        sealed = SealedDump.from_json(files.read(description_path(child.path)), child.path)
    except Missing:
        # Cut off: how old it is only its directory says.
        return _Old(child.path, child.modified_ms / 1000, None)
    except TwinhiveError as error:
        return _Old(child.path, child.modified_ms / 1000, None, error)
    return _Old(child.path, sealed.made_at, sealed.last_event)


def _take_away(files: FileWriter, owned: Owned) -> str:
    """Remove a dump, and say how; '' when a load has begun meanwhile."""
    directory = owned.directory
    dumps, name = parent(directory), _token(directory)
    was, aside = join(dumps, name), join(dumps, _REMOVING + name)
    going = owned.move_aside(aside) if directory == was else owned
    if going is None:
        return ""
    if any(found.note.loading == was for found in loader_notes(files, dumps)):
        going.move_aside(was)
        return ""
    return going.take_away()
