"""Make directories that bear our mark, tell whose a directory is, and remove what is proven ours.

A directory gets its mark when it is made, before anything else is in it: an extended attribute, or a file of its own
where the file system has no attributes. A name is no proof, and neither is what a policy file says. `Owned` stands for
a directory with that proof; what lies in it was put there by us, and only through it a directory is removed whole, or
moved out of the way.

What people may miss is taken away: to the trash, where one is kept. What is work in the making, copies and lists of
what the source still has, is discarded.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate

from twinhive.core.model.errors import Foreign, Missing, Refused, Unexplained
from twinhive.core.model.files import base_name, is_below, join, parent, quoted_path, relative_to
from twinhive.core.model.marks import DIRECTORY_MARK
from twinhive.core.ports import FileReader, FileWriter, if_there, rename_into

ATTRIBUTE = "user.twinhive.directory"
MARKER = "_twinhive"
"""Name of the file that bears the mark where there are no attributes."""
_BEGUN = re.compile(r"\.(.+)\.[0-9a-f]{32}", re.DOTALL)
"""What a file is called until it is whole; a process that is killed leaves it so."""


class Purpose(StrEnum):
    """What a directory of ours is for."""

    STAGING = "staging"
    """A policy's directory on the replica; the owner is the policy."""
    DUMPS = "dumps"
    """All dumps of a policy; the owner is the policy."""
    DUMP = "dump"
    """One dump of a statement; the owner is the directory's own name, a token."""
    PARTITION_WRITE = "partition-write"
    """What one job writes into a table, below the table's directory; the owner is the job."""
    COPIES = "copies"
    """All copies of a placement; the owner is the placement."""
    EXPORT = "export"
    """What an export is put together in, beside its directory; the owner is that directory."""
    IMPORT = "import"
    """What an import is put together in, beside the table's directory; the owner is the table."""


@dataclass(frozen=True)
class Mark:
    """What a directory of ours is for, and whose it is."""

    purpose: Purpose
    owner: str

    def __str__(self) -> str:
        return f"{self.purpose}:{self.owner}"


IsLeft = Callable[[FileReader, str], bool]
"""True for a directory that has lost its mark: it was removed while somebody still wrote into it."""


@dataclass(frozen=True)
class Owned:
    """A directory that is proven ours, with all that is in it. Made by the functions below, never by its name."""

    files: FileWriter
    directory: str

    def take_away(self, path: str = "") -> str:
        """Move the directory, or something in it, to the trash, or delete it where none is kept; say which."""
        path = self._of_ours(path)
        if self.files.to_trash(path):
            return "moved to the trash"
        self.files.delete(path)
        return "removed, no trash is kept there"

    def discard(self, path: str = "") -> bool:
        """Delete the directory, or something in it, for good; False when there was none."""
        return self.files.delete(self._of_ours(path))

    def move_aside(self, place: str, path: str = "") -> "Owned | None":
        """Rename the directory, or something in it, and return it where it is then.

        None when it is gone, or the place is taken.
        """
        return Owned(self.files, place) if rename_into(self.files, self._of_ours(path), place) else None

    def _of_ours(self, path: str) -> str:
        path = path or self.directory
        if path != self.directory and (not is_below(path, self.directory) or {".", ".."} & set(path.split("/"))):
            raise Foreign(
                f"{path} is neither removed nor moved: nothing proves that it is ours",
                found=f"a path outside {self.directory}",
                expected="something in that directory, which bears our mark",
                next_step="look what it is, and remove it yourself if nobody needs it",
            )
        return path


def mark_of(files: FileReader, directory: str) -> str | None:
    """Return the mark of a directory as text, None for one without a mark, and for one that is not there.

    Raises Unexplained: of such a directory nobody knows whose it is, unless a file says it.
    """
    try:
        text = files.attribute(directory, ATTRIBUTE)
        return _mark_in_file(files, directory) if text is None else text
    except Unexplained:
        if text := _mark_in_file(files, directory):
            return text
        raise
    except (Missing, Refused):
        return None


def _mark_in_file(files: FileReader, directory: str) -> str | None:
    try:
        return files.read(join(directory, MARKER)).decode(errors="replace")
    except Unexplained:
        raise
    except (Missing, Refused):
        return None


def _never(files: FileReader, directory: str) -> bool:
    return False


def proven(files: FileWriter, directory: str, mark: Mark, is_left: IsLeft = _never) -> Owned | None:
    """Return a directory that bears a mark, or that has lost it; None without proof. Nothing is changed."""
    found = mark_of(files, directory)
    if found is None and not is_left(files, directory):
        return None
    return Owned(files, directory) if found in (None, str(mark)) else None


def within(files: FileWriter, directory: str, purposes: tuple[Purpose, ...]) -> Owned | None:
    """Return a directory that lies in one which bears a mark for some purpose; None without proof."""
    around = (mark_of(files, parent(directory)) or "").partition(":")[0]
    return Owned(files, directory) if around in purposes else None


def claim(
    files: FileWriter, directory: str, mark: Mark, is_left: IsLeft = _never, *, for_others: bool = False
) -> Owned:
    """Make a directory with a mark, or find it with that mark; one that has lost it, or an empty one, gets it.

    Only its owner can look into a new one, but `for_others`. Raises Foreign for a directory of somebody else's.
    """
    if files.status(directory) is None:
        (files.make_directories if for_others else files.make_private)(directory)
        _mark_new(files, directory, mark)
    elif problem := foreign(files, directory, mark, is_left):
        raise problem
    elif mark_of(files, directory) is None:
        _write(files, directory, mark)
    return Owned(files, directory)


def foreign(files: FileReader, directory: str, mark: Mark, is_left: IsLeft = _never) -> Foreign | None:
    """Return what keeps a directory from being used as ours, None when nothing does. Nothing is changed."""
    there = files.status(directory)
    if there is None:
        return None
    free = there.is_directory and (is_left(files, directory) or is_empty(files, directory))
    # Read last: who claims it at the same time writes the mark before anything else.
    found = mark_of(files, directory) if there.is_directory else None
    if found == str(mark) or (found is None and free):
        return None
    what = "a file" if not there.is_directory else f"it says {found}" if found else "files that twinhive did not write"
    return Foreign(
        f"{directory} is to be the directory for '{mark}', and is somebody else's",
        found=what,
        expected="nothing there, or a directory that twinhive has made for this",
        next_step="name another root directory, or look what it is and move it away "
        f"(hdfs dfs -mv {quoted_path(directory)} {quoted_path(f'{directory}.aside')}); then run again",
    )


def is_empty(files: FileReader, directory: str) -> bool:
    """Return True for a directory that is there and has nothing in it, but for a mark that was begun."""
    ((_, children),) = files.list_directories([directory])
    return children is not None and all(final_name(base_name(child.path)) == MARKER for child in children)


def final_name(name: str) -> str:
    """Return what a file of ours is called, or was to be called when it is whole."""
    begun = _BEGUN.fullmatch(name)
    return begun[1] if begun else name


def mark_table(files: FileWriter, directory: str, mark: str) -> None:
    """Mark a table's directory as a policy's, `<policy>:<made by>`: only such ones are ever moved aside or removed."""
    files.set_attribute(directory, DIRECTORY_MARK, mark)


def mark_left(files: FileWriter, directory: str, policy: str) -> None:
    """Mark a directory that something of a policy's replica is about to leave: what lies in it was its content.

    So single directories become ours in the directory of a table that people made, which bears no mark of ours. One
    that is not there, or whose owner does not let us, has no mark, and is never moved.
    """
    try:
        mark_table(files, directory, f"{policy}:left")
    except Unexplained:
        raise
    except (Missing, Refused):
        return


def table_mark(files: FileReader, directory: str) -> str | None:
    """Return the policy whose mark a table's directory bears, None without one, and for what is not there."""
    text = if_there(files.attribute, directory, DIRECTORY_MARK)
    return text.partition(":")[0] if text else None


def release_table(files: FileWriter, directory: str, policy: str) -> None:
    """Empty the mark of a table's directory, if it is the policy's: from then on it is not ours. Raises Refused."""
    if table_mark(files, directory) == policy:
        files.set_attribute(directory, DIRECTORY_MARK, "")


def table_of(files: FileWriter, root: str, directory: str, policy: str) -> Owned | None:
    """Return the topmost directory with the policy's mark that a directory is, or lies in, below a root of tables.

    It is the table's where we built that; else what was left in it. None without such a mark.
    """
    if not is_below(directory, root):
        return None
    around = accumulate(relative_to(directory, root).split("/"), join, initial=root)
    return next((owned for one in around if one != root and (owned := table_directory_of(files, one, policy))), None)


def table_directory_of(files: FileWriter, directory: str, policy: str) -> Owned | None:
    """Return a table's directory, None unless it bears the policy's mark."""
    return Owned(files, directory) if table_mark(files, directory) == policy else None


def _mark_new(files: FileWriter, directory: str, mark: Mark) -> None:
    """Mark a directory that was made just now, by a file where nobody knows what becomes of attributes."""
    try:
        if mark_of(files, directory) is None:
            _write(files, directory, mark)
    except Unexplained:
        _write_file(files, directory, mark)


def _write(files: FileWriter, directory: str, mark: Mark) -> None:
    try:
        files.set_attribute(directory, ATTRIBUTE, str(mark))
    except Refused:
        _write_file(files, directory, mark)


def _write_file(files: FileWriter, directory: str, mark: Mark) -> None:
    files.write(join(directory, MARKER), str(mark).encode())
