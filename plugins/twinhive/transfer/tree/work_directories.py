"""Where a copy keeps what is not finished, not wanted any more, or known for the next run."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from twinhive.core.model.file_names import LONGEST, shortened
from twinhive.core.model.files import FileStatus, base_name, join, parent, short_hash

HIDDEN = ".twinhive"
"""Our directory in every directory that we have copied to."""

CLAIM = f"{HIDDEN}-external.json"
"""Our file in a base directory of external tables: which policy writes below it."""

_OURS = re.compile(re.escape(HIDDEN) + r"(-external\.json|-.*-[0-9a-f]{16})?", re.DOTALL)

_ROOM = LONGEST - len(f"{HIDDEN}--") - 16
"""For the name of a new base in that of its work directory."""


def is_ours(name: str) -> bool:
    """True for the name of what a copy keeps for itself, be it another one: it is neither copied nor deleted."""
    return name.startswith(HIDDEN) and _OURS.fullmatch(name) is not None


def has_only_ours(page: Iterable[FileStatus]) -> bool:
    """True for a part of a directory with nothing in it, or nothing but what copies keep for themselves."""
    return all(is_ours(base_name(found.path)) for found in page)


@dataclass(frozen=True)
class Places:
    """The directories of a copy into `base`, below which the relative paths of its plan are.

    is_new    the base does not exist: it is built as a whole and appears by one rename
    staging   where the work is to be done instead of in or beside the base; on the same file system
    only      the name of the one file that is copied into a base that exists: it has a work directory, and a lease, of
              its own, for others write into that directory at the same time
    """

    base: str
    is_new: bool
    staging: str | None = None
    only: str = ""

    @property
    def lease(self) -> str:
        """Where the right to write is kept."""
        return join(self.work if self.has_own_lease else self.hidden, "lease")

    @property
    def has_own_lease(self) -> bool:
        """True when the lease is for what this copy alone does, and goes with its work."""
        return self.is_new or bool(self.only)

    @property
    def hidden(self) -> str:
        """Our directory in the base."""
        return join(self.base, HIDDEN)

    @property
    def work(self) -> str:
        """Everything that is not finished; deleted after success."""
        if self.only:
            return join(self.staging or self.base, _named(self.final(self.only)))
        return self._outside if self.is_new or self.staging else self._inside

    @property
    def works(self) -> tuple[str, ...]:
        """Where this run and runs before it, when the base did not exist, have worked."""
        return (self.work,) if self.only else tuple(dict.fromkeys((self.work, self._outside, self._inside)))

    @property
    def tree(self) -> str:
        """New directories, each at its relative path; the base itself when that is new."""
        return join(self.work, "tree")

    @property
    def aside(self) -> str:
        """What is moved out of the way before the renames of a snapshot difference."""
        return join(self.work, "aside")

    @property
    def plan(self) -> str:
        """The batches of a plan."""
        return join(self.work, "plan")

    def final(self, relative: str) -> str:
        """Return where a path is to be in the end."""
        return join(self.base, relative)

    def built(self, relative: str) -> str:
        """Return where a path in a new directory is built."""
        return join(self.tree, relative)

    @property
    def files(self) -> str:
        """Where files are written that are renamed when they are whole."""
        return join(self.work, "files")

    def unfinished(self, relative: str, writer: str) -> str:
        """Return where one writer writes a file before it is renamed: no other one ever writes there."""
        return join(self.files, f"{short_hash(relative, 32)}-{writer}")

    def written_for(self, path: str) -> str:
        """Return what the names of all that was written for one file have in common, of one that is in `files`."""
        return base_name(path).partition("-")[0]

    def parts(self, relative: str, original: FileStatus) -> str:
        """Return the directory for the parts of a large file: of this very file, and of none that replaces it."""
        identity = f"{original.length} {original.modified_ms} {original.file_id} {relative}"
        return join(self.all_parts, short_hash(identity, 32))

    @property
    def all_parts(self) -> str:
        """Where the parts of large files are."""
        return join(self.work, "parts")

    def trash(self, stamp: str = "") -> str:
        """Return where one run, named by its time, moves what is deleted; without one, the trash of all runs."""
        return join(self.hidden, "trash", stamp)

    def verified(self, sources: tuple[str, ...]) -> str:
        """Return where it is kept which copies of these sources are known to be equal."""
        return join(self.hidden, "verified", short_hash("\n".join(sources)))

    @property
    def _inside(self) -> str:
        return join(self.hidden, "work")

    @property
    def _outside(self) -> str:
        return join(self.staging or parent(self.base), _named(self.base))


def _named(path: str) -> str:
    """Return the name of the work directory for one path."""
    return f"{HIDDEN}-{shortened(base_name(path), _ROOM)}-{short_hash(path)}"
